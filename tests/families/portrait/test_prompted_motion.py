"""What the shipped weights make of prompts, cues, habits and faces, told from the latents they sample."""

from dataclasses import astuple
from fractions import Fraction

import numpy as np
import pytest
import torch

from avatar_cli.assets import asset_path
from avatar_cli.families.portrait.habits import USUAL, Habits
from avatar_cli.families.portrait.latents import CHANNELS
from avatar_cli.families.portrait.training.generation import Performance, asked, load_networks, perform
from avatar_cli.families.portrait.vocabulary import WORDS
from avatar_cli.media.decoding import read_sound

SECONDS = 5.0
HEAD = ("yaw", "pitch", "roll")
SEEDS = (0, 1)


@pytest.fixture(scope="module")
def take(encoded):
    """Performs the demo's speech, each take once: latents [seeds, n, 21]."""
    networks = load_networks(asset_path("portrait"))
    speech = read_sound(asset_path("demo/speech.wav"), seconds=SECONDS)
    tokens = encoded.conditioning.tokens
    made = {}

    def perform_once(*cues, habits=USUAL, reference=tokens):
        key = (cues, astuple(habits), reference.data_ptr())
        if key not in made:
            takes = [perform(networks, speech, Performance(reference, cues, seed, habits)) for seed in SEEDS]
            made[key] = np.stack(takes)
        return made[key]

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield perform_once
    torch.set_num_threads(threads)


def channel(latents, name):
    return latents[..., CHANNELS.index(name)]


def level(latents, name):
    return float(np.median(channel(latents, name)))


def liveliness(latents, *names):
    """Root of the mean variance of channels, within the takes."""
    return float(np.sqrt(np.mean([channel(latents, name).var(axis=-1) for name in names])))


def opening(latents, name="gap"):
    values = channel(latents, name)
    return float(np.quantile(values, 0.95) - np.quantile(values, 0.05))


# Word, channel, and the least change of its level at intensity 1, in the channel's unit and with its sign.
LEVELS = [
    ("happy", "width", 0.02),
    ("happy", "squint", 0.008),
    ("happy", "corner_y", -0.010),
    ("serious", "brow_lower", 0.004),
    ("sad", "corner_y", 0.008),
    ("sad", "pitch", 0.03),
    ("sad", "blink", 0.03),
    ("surprised", "brow_raise", 0.018),
    ("surprised", "blink", -0.06),
    ("smiling", "width", 0.025),
    ("smiling", "corner_y", -0.013),
    ("looking left", "gaze_x", -0.2),
    ("looking left", "yaw", -0.05),
    ("looking right", "gaze_x", 0.2),
    ("looking right", "yaw", 0.05),
    ("looking up", "gaze_y", -0.15),
    ("looking up", "pitch", -0.04),
    ("looking down", "gaze_y", 0.15),
    ("looking down", "pitch", 0.045),
]
# Word, channels, and what it does to how much they move: the factor at intensity 1 is beyond this.
AMOUNTS = [
    ("calm", HEAD, 0.75),
    ("lively", HEAD, 1.25),
    ("sad", HEAD, 0.75),
    ("serious", HEAD, 0.85),
    ("still head", HEAD, 0.4),
    ("nodding", ("pitch",), 1.3),
    ("surprised", ("gap",), 1.1),
]


def test_every_word_is_tried():
    assert {word for word, *_ in LEVELS + AMOUNTS} == set(WORDS)


@pytest.mark.parametrize(("word", "name", "least"), LEVELS)
def test_a_word_moves_its_channel_in_proportion_to_its_intensity(take, word, name, least):
    plain = level(take(), name)
    slightly, plainly, very = (
        (level(take(asked(word, intensity=intensity)), name) - plain) / least for intensity in (0.5, 1.0, 1.5)
    )
    assert plainly > 1
    assert 0.25 * plainly < slightly < 0.8 * plainly
    assert 1.2 * plainly < very < 2.0 * plainly


@pytest.mark.parametrize(("word", "names", "factor"), AMOUNTS)
def test_a_word_changes_how_much_somebody_moves_the_more_the_stronger_it_is(take, word, names, factor):
    still = liveliness(take(), *names)
    slightly, plainly, very = (
        np.log(liveliness(take(asked(word, intensity=intensity)), *names) / still) / np.log(factor)
        for intensity in (0.5, 1.0, 1.5)
    )
    assert plainly > 1
    assert slightly < plainly < very


def test_words_go_together(take):
    both = take(asked("smiling", "looking left"))
    assert level(both, "width") > level(take(), "width") + 0.02
    assert level(both, "yaw") < level(take(), "yaw") - 0.04


def test_a_cue_takes_half_a_second_from_its_time_on(take):
    cued = take(asked(at=Fraction(0)), asked("smiling", at=Fraction(3)))
    difference = (channel(cued, "corner_y") - channel(take(), "corner_y")).mean(axis=0)
    full = level(take(asked("smiling")), "corner_y") - level(take(), "corner_y")
    assert abs(difference[:74].mean()) < 0.15 * abs(full)
    assert difference[90:].mean() == pytest.approx(full, rel=0.35)


@pytest.mark.parametrize("words", [(), ("smiling",), ("surprised",)])
def test_lips_that_meet_without_a_prompt_still_do(take, words):
    closed = channel(take(), "gap") < 0
    assert closed.mean() > 0.02
    assert np.all(channel(take(asked(*words)), "gap")[closed] < 0.012)


@pytest.mark.parametrize(
    ("habits", "statistic", "names"),
    [
        (Habits(head=0.7), liveliness, HEAD),
        (Habits(mouth=0.5), opening, ("gap",)),
        (Habits(width=0.5), opening, ("width",)),
    ],
)
def test_habits_say_how_far_somebody_moves(take, habits, statistic, names):
    asked_for = np.exp(max(astuple(habits)))
    assert statistic(take(habits=habits), *names) / statistic(take(), *names) == pytest.approx(
        asked_for, rel=0.3
    )
    other = Habits(*(-value for value in astuple(habits)))
    assert statistic(take(habits=other), *names) / statistic(take(), *names) == pytest.approx(
        1 / asked_for, rel=0.3
    )


def test_a_quick_head_turns_quicker_but_not_farther(take):
    def speed(latents):
        return liveliness(np.diff(latents, axis=1), *HEAD) / liveliness(latents, *HEAD)

    assert speed(take(habits=Habits(tempo=0.8))) > 1.5 * speed(take(habits=Habits(tempo=-0.8)))


def test_who_blinks_often_does(take):
    rare, often = (
        (np.diff((channel(take(habits=Habits(blinks=much)), "blink") > 0.5).astype(int), axis=1) > 0).sum()
        for much in (-1.0, 1.0)
    )
    assert often >= 2 * rare + 2


def test_another_face_moves_its_mouth_otherwise(take, encoded):
    own = encoded.conditioning.tokens
    wide = own.clone()
    wide[..., 0] *= 1.35  # of a face, mouth included, that is wider by a third
    assert abs(np.log(opening(take(reference=wide)) / opening(take()))) > 0.03
