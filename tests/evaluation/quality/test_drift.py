import numpy as np
import pytest

from avatar_cli.evaluation.quality.drift import change, ends, motion_drift, spread_change
from avatar_cli.families.portrait.latents import MOUTH


def test_short_videos_are_compared_by_thirds_long_ones_by_minutes():
    assert ends(300) == (slice(0, 100), slice(200, 300))
    assert ends(15_000) == (slice(0, 1500), slice(13_500, 15_000))


def test_a_ramp_drifts_by_what_it_rises_between_the_middles_of_the_ends(face_curves):
    frames = 15_000
    ramp = np.linspace(0, 1, frames)

    drift = motion_drift(face_curves(frames, width=ramp))

    assert drift[MOUTH.index("width")] == pytest.approx(0.9 / ramp.std(), rel=1e-3)
    assert np.abs(np.delete(drift, MOUTH.index("width"))).max() == 0


def test_motion_that_repeats_does_not_drift(face_curves):
    nod = np.sin(np.arange(9000) * 2 * np.pi / 500)

    assert np.abs(motion_drift(face_curves(9000, pitch=nod))).max() < 1e-3


def test_change_is_that_of_the_means():
    assert change(np.array([[1.0], [9.0], [4.0]])) == pytest.approx([3.0])


def test_the_spread_is_that_of_the_channel_that_changes_most(wander):
    curves = np.stack([wander(1, 900), wander(2, 900), np.zeros(900, np.float32)], axis=1)
    curves[600:] = curves[:300]
    curves[600:, 1] *= 0.5

    found = spread_change(curves)

    assert found.deviation == pytest.approx(0.5, rel=1e-4)
    assert found.range == pytest.approx(0.5, rel=1e-4)


def test_curves_that_never_move_keep_their_spread():
    assert spread_change(np.zeros((300, 2), np.float32)).deviation == 1
