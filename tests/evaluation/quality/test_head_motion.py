import numpy as np
import pytest

from avatar_cli.evaluation.quality.head_motion import (
    BANDS,
    band_rms,
    difference_db,
    pooled_rms,
    rotation_deviation,
)


def nodding(hertz, frames=1500, amplitude=3.0):
    time = np.arange(frames) / 25
    angles = np.zeros((frames, 3))
    angles[:, 1] = amplitude * np.sin(2 * np.pi * hertz * time)
    return angles


def test_a_sine_of_three_degrees_has_its_deviation():
    assert rotation_deviation(nodding(1.5)) == pytest.approx([0, 3 / np.sqrt(2), 0], abs=1e-3)


@pytest.mark.parametrize(("hertz", "band"), [(0.3, 0), (0.75, 1), (1.5, 2), (3.0, 3), (6.0, 4)])
def test_a_sine_is_found_in_its_octave_with_its_power(hertz, band):
    rms = band_rms(nodding(hertz))

    assert rms.shape == (len(BANDS), 3)
    assert rms[band, 1] == pytest.approx(3 / np.sqrt(2), rel=0.03)
    others = np.delete(rms[:, 1], band)
    assert others.max() < 0.1
    assert rms[:, 0].max() == 0


def test_a_head_that_slowly_turns_away_does_not_shake():
    angles = np.zeros((1000, 3))
    angles[:, 0] = np.linspace(0, 20, 1000)

    assert band_rms(angles).max() < 1e-6


def test_a_recording_shorter_than_a_segment_has_a_spectrum_too():
    assert band_rms(nodding(1.5, frames=75))[2, 1] == pytest.approx(3 / np.sqrt(2), rel=0.1)


def test_half_the_motion_is_six_decibels_less():
    full, half = band_rms(nodding(1.5)), band_rms(nodding(1.5, amplitude=1.5))

    assert difference_db(half, full)[2] == pytest.approx(-6.02, abs=0.05)


def test_pooled_recordings_count_by_their_length():
    parts = [np.full((5, 3), 1.0), np.full((5, 3), 3.0)]

    assert pooled_rms(parts, [300, 100]) == pytest.approx(np.sqrt(0.75 * 1 + 0.25 * 9))
