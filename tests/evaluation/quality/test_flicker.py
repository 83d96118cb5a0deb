import numpy as np
import pytest

from avatar_cli.evaluation.quality.flicker import flicker


def grey(levels):
    return np.repeat(np.asarray(levels)[:, None], 3, axis=1)


def test_white_noise_flickers_by_its_deviation():
    noise = np.random.default_rng(0).normal(0, 2.0, 4000)

    assert flicker(grey(100 + noise), np.zeros((4000, 6))) == pytest.approx(2.0, rel=0.05)


def test_light_that_changes_slowly_does_not_flicker():
    slow = 100 + 20 * np.sin(np.arange(1000) / 50)

    assert flicker(grey(slow), np.zeros((1000, 6))) < 0.01


def test_frames_in_which_the_head_moves_do_not_count():
    levels = np.full(1000, 100.0)
    levels[530::2] += 5
    pose = np.zeros((1000, 6))
    pose[520:, 0] = np.arange(480) * 0.01

    assert flicker(grey(levels), pose) < 0.5
