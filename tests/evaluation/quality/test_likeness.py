import numpy as np
import pytest

from avatar_cli.evaluation.quality.likeness import extent, likeness


def test_a_larger_copy_that_lags_is_alike_and_larger(wander):
    real = wander(1, 200)

    found = likeness(np.roll(2 * real, 2), real, np.ones(200, bool))

    assert found.best > 0.99
    assert found.lag == 2
    assert found.in_step < 0.9
    assert found.range_ratio == pytest.approx(2, rel=0.05)


def test_only_the_given_frames_count(wander):
    real = wander(1, 200)
    rendered = np.where(np.arange(200) < 100, real, wander(2, 200))

    first = likeness(rendered, real, np.arange(200) < 98)

    assert first.best == pytest.approx(1)
    assert likeness(rendered, real, np.arange(200) >= 102).best < 0.6


def test_the_range_leaves_the_extremes_out():
    curve = np.linspace(0, 1, 1001)
    curve[0], curve[-1] = -50, 50

    assert extent(curve) == pytest.approx(0.9, abs=0.01)
