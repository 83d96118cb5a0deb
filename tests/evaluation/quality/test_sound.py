import numpy as np
import pytest

from avatar_cli.evaluation.quality.sound import hear
from avatar_cli.families.portrait.audio_features import band_centres


def tone(hertz, seconds=2.0, gain=0.3):
    return (gain * np.sin(2 * np.pi * hertz * np.arange(int(16000 * seconds)) / 16000)).astype(np.float32)


def test_open_vowels_are_louder_there_than_hissing():
    vowel, hiss = hear(tone(700), 50), hear(tone(5000), 50)

    assert vowel.vowels.mean() > hiss.vowels.mean() + 0.5
    assert hiss.loudness.mean() > hear(np.zeros(32000, np.float32), 50).loudness.mean()


def test_frames_past_the_end_are_silent():
    sound = hear(tone(500, seconds=1.0), 50)

    assert len(sound.level) == len(sound.bands) == len(sound.speech) == 50
    assert not sound.silent[:25].any()
    assert sound.silent[26:].all()


def test_samples_past_the_last_frame_are_left_out():
    assert len(hear(tone(500, seconds=3.0), 50).bands) == 50


def test_the_level_is_in_decibels_below_full_scale():
    assert hear(tone(500, gain=0.1), 50).level[20] == pytest.approx(-23, abs=0.1)


def test_bands_rise_in_frequency():
    centres = band_centres()

    assert len(centres) == 48
    assert np.all(np.diff(centres) > 0)
    assert 60 < centres[0] < 120
