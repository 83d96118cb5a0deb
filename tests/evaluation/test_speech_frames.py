import json
from fractions import Fraction

import numpy as np

from avatar_cli.evaluation.speech_frames import speech_mask
from avatar_cli.media.decoding import read_sound

RATE = 16_000
FPS = Fraction(25)


def tone(seconds, amplitude=0.3):
    times = np.arange(round(seconds * RATE)) / RATE
    return (amplitude * np.sin(2 * np.pi * 220 * times)).astype(np.float32)


def noise(seconds, amplitude=0.002):
    return (amplitude * np.random.default_rng(0).normal(size=round(seconds * RATE))).astype(np.float32)


def test_speech_between_pauses_is_found_to_the_frame():
    samples = np.concatenate([noise(1), tone(2), noise(1)])

    mask = speech_mask(samples, RATE, FPS, 100)

    assert np.flatnonzero(mask).tolist() == list(range(25, 75))


def test_a_closure_belongs_to_the_speech_around_it_and_a_pause_does_not():
    samples = np.concatenate([tone(1), noise(0.2), tone(1), noise(0.6), tone(1)])

    mask = speech_mask(samples, RATE, FPS, 95)

    assert mask[:55].all()
    assert not mask[56:69].any()


def test_a_click_is_not_speech():
    samples = np.concatenate([noise(1), tone(0.04), noise(1), tone(1), noise(0.2)])

    mask = speech_mask(samples, RATE, FPS, 81)

    assert not mask[:50].any()
    assert mask[51:76].all()


def test_digital_silence_holds_no_speech():
    assert not speech_mask(np.zeros(RATE, np.float32), RATE, FPS, 25).any()


def test_sound_below_hearing_is_not_speech():
    samples = np.concatenate([noise(1, 1e-5), tone(1, 1e-4), noise(1, 1e-5)])

    assert not speech_mask(samples, RATE, FPS, 75).any()


def test_frames_past_the_end_of_the_sound_hold_no_speech():
    mask = speech_mask(np.concatenate([noise(1), tone(1)]), RATE, FPS, 75)

    assert not mask[50:].any()


def test_it_agrees_with_the_word_times_of_a_corpus(media):
    words = json.loads((media / "video" / "grid_alignments.json").read_text())["bbaf2n"]["words"]
    spoken = [(start, end) for word, start, end in words if word != "<sil>"]

    samples = read_sound(media / "video" / "g_bbaf2n_grid_360x288.mpg")
    found = np.flatnonzero(speech_mask(samples, RATE, FPS, 75)) / 25

    assert abs(found[0] - spoken[0][0]) < 0.15
    assert abs(found[-1] - spoken[-1][1]) < 0.3
