import numpy as np
import pytest

from avatar_cli.evaluation.quality.repeats import best_repeat, chance_repeat, motion_that_shows


@pytest.fixture
def motion(wander):
    """Six channels of ten minutes at 5 frames/s."""
    return np.stack([wander(seed, 3000) for seed in range(6)], axis=1)


def test_motion_that_never_repeats_matches_itself_no_better_than_chance(motion):
    found = best_repeat(motion, 5.0)

    assert found.match < 0.8
    assert found.match == pytest.approx(chance_repeat(motion, 5.0), abs=0.1)


def test_four_seconds_that_come_again_are_found_at_another_posture_and_in_noise(motion, wander):
    motion[2000:2020] = motion[300:320] + 5
    motion += 0.1 * np.stack([wander(seed, 3000) for seed in range(10, 16)], axis=1)

    found = best_repeat(motion, 5.0)

    assert found.match > 0.9
    assert abs(found.first - 300) <= 1
    assert found.second - found.first == 1700


def test_windows_that_overlap_are_no_repeat():
    slow = np.linspace(0, 1, 60)[:, None] ** 2 + 0.001 * np.random.default_rng(0).normal(size=(60, 1))

    found = best_repeat(slow, 5.0)

    assert found.second - found.first >= 20


def test_chance_does_not_know_of_a_repeat(motion):
    motion[2000:2300] = motion[300:600]

    assert best_repeat(motion, 5.0).match == pytest.approx(1, abs=1e-5)
    assert chance_repeat(motion, 5.0) < 0.8


def test_the_mouth_and_lids_are_left_out_since_words_and_blinks_repeat(face_curves, wander):
    curves = face_curves(100, gap=wander(1, 100), lid_opening=wander(2, 100), yaw=np.arange(100))

    motion = motion_that_shows(curves)

    assert motion.shape == (20, 6)
    assert np.ptp(motion, axis=0).astype(bool).tolist() == [True, False, False, False, False, False]
