import numpy as np
import pytest

from avatar_cli.families.portrait.audio_features import SILENCE
from avatar_cli.families.portrait.training.augmentation import augment, disturb_mels
from avatar_cli.families.portrait.training.corpus import examples_of, loudness, wordless_examples
from avatar_cli.families.portrait.training.phones import TimedUnit
from avatar_cli.families.portrait.training.utterance import Utterance, load_utterances, save_utterances


def utterance(seconds=1.0, seed=0):
    rng = np.random.default_rng(seed)
    samples = (6000 * rng.standard_normal(int(16000 * seconds))).clip(-32767, 32767).astype(np.int16)
    return Utterance(samples, (TimedUnit("AA", 0.0, seconds),), "test", 0.025)


def test_example_has_four_mels_to_a_frame_and_pauses_around():
    (example,) = examples_of([utterance()], 1, np.random.default_rng(0))
    assert example.mels.shape == (4 * example.frames, 48)
    assert [unit.unit for unit in example.units] == ["SIL", "AA", "SIL"]
    speech = example.units[1]
    assert speech.end - speech.start == pytest.approx(1.0)
    assert example.units[2].end <= example.frames / 25 + 1e-9


def test_sound_times_stay_with_the_sound():
    for seed in range(4):
        (example,) = examples_of([utterance()], 1, np.random.default_rng(seed))
        onset = int((example.level_db > -20).argmax())
        assert abs(onset - example.units[1].start * 25) < 2


def test_copies_differ_and_a_seed_repeats_them():
    first, second = examples_of([utterance()], 2, np.random.default_rng(1))
    assert first.mels.shape != second.mels.shape or not np.array_equal(first.mels, second.mels)
    again, _ = examples_of([utterance()], 2, np.random.default_rng(1))
    assert np.array_equal(first.mels, again.mels)


def test_loudness_is_that_of_the_clean_sound():
    samples = np.concatenate([np.zeros(16000), utterance().samples / 32768, np.zeros(16000)])
    level = loudness(samples)
    assert level[:20].max() < -30 and level[30:48].min() > -15 and level[60:].max() < -30


def test_wordless_examples_want_silence():
    for example in wordless_examples(12, [], np.random.default_rng(2)):
        assert [unit.unit for unit in example.units] == ["SIL"]
        assert example.mels.min() >= SILENCE


def test_augmented_speech_stays_in_range_and_in_time():
    rng = np.random.default_rng(3)
    samples = np.zeros(16000)
    samples[8000:8800] = 0.5 * rng.standard_normal(800)
    for _ in range(20):
        disturbed = augment(samples, [utterance().samples], rng)
        assert disturbed.shape == samples.shape and disturbed.dtype == np.float32
        assert np.abs(disturbed).max() <= 10 ** (3 / 20) + 1e-6
        energy = np.convolve(disturbed**2, np.ones(800), "same")
        assert abs(int(energy.argmax()) - 8400) < 2400


def test_disturbed_mels_stay_in_range():
    mels = np.random.default_rng(4).uniform(-2, 2, (40, 48)).astype(np.float32)
    disturbed = disturb_mels(mels, np.random.default_rng(5))
    assert disturbed.shape == mels.shape and np.abs(disturbed).max() <= 2


def test_utterances_come_back_from_their_file(tmp_path):
    path = tmp_path / "speech.pickle"
    save_utterances(path, [utterance()])
    (loaded,) = load_utterances(path)
    assert np.array_equal(loaded.samples, utterance().samples) and loaded.units == utterance().units
