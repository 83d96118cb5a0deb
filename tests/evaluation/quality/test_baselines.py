import numpy as np
import pytest

from avatar_cli.evaluation.quality.baselines import Lesson, bands_around, fit_ridge, solve_ridge
from avatar_cli.evaluation.quality.sound import Sound


def lessons(seed, noise):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(4, 3))
    found = []
    for _ in range(4):
        heard = rng.normal(size=(120, 4)) + 2
        mouth = heard @ weights + 5 + noise * rng.normal(size=(120, 3))
        found.append(Lesson(heard, mouth, np.ones(120, bool)))
    return weights, found


def test_ridge_regression_finds_a_linear_mouth():
    weights, given = lessons(0, 0.0)

    ridge = solve_ridge(given, 1e-9)

    assert ridge.weights == pytest.approx(weights, abs=1e-6)
    assert ridge(given[0].heard) == pytest.approx(given[0].mouth, abs=1e-5)


def test_a_large_penalty_says_the_mean_mouth():
    _, given = lessons(0, 0.0)

    ridge = solve_ridge(given, 1e12)

    assert ridge(given[0].heard)[0] == pytest.approx(np.concatenate([x.mouth for x in given]).mean(axis=0))


def test_the_fit_serves_clips_that_were_left_out():
    _, given = lessons(0, 1.0)
    _, unseen = lessons(0, 0.0)

    ridge = fit_ridge(given)

    assert np.corrcoef(ridge(unseen[3].heard)[:, 0], unseen[3].mouth[:, 0])[0, 1] > 0.9


def test_a_frame_is_heard_with_two_on_either_side():
    bands = np.arange(10, dtype=np.float32)[:, None] * np.ones(48, np.float32)
    sound = Sound(bands, np.zeros(10, np.float32), np.ones(10, bool))

    around = bands_around(sound)

    assert around.shape == (10, 240)
    assert around[5, ::48].tolist() == [3, 4, 5, 6, 7]
    assert around[0, ::48].tolist() == [0, 0, 0, 1, 2]
