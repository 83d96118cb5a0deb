import numpy as np
import pytest

from avatar_cli.evaluation.correlation import best_match, correlation


def smooth_noise(seed, length=400):
    noise = np.random.default_rng(seed).normal(size=length + 8)
    return np.convolve(noise, np.hanning(9), "valid")


@pytest.mark.parametrize("late", [-2, -1, 0, 1, 2])
def test_a_known_lag_is_recovered(late):
    real = smooth_noise(1)
    rendered = np.roll(real, late) * 0.3 + 2

    match = best_match(rendered, real, np.ones(len(real), bool))

    assert match.lag == late
    assert match.correlation == pytest.approx(1, abs=0.02)


def test_curves_of_different_people_do_not_correlate_on_average():
    values = [
        correlation(smooth_noise(seed), smooth_noise(seed + 1000), np.ones(400, bool)) for seed in range(40)
    ]

    assert abs(np.mean(values)) < 0.05


def test_the_best_of_several_lags_flatters_curves_that_have_nothing_in_common():
    pairs = [(smooth_noise(seed), smooth_noise(seed + 1000)) for seed in range(40)]

    flattered = [best_match(a, b, np.ones(400, bool)).correlation for a, b in pairs]

    assert np.mean(flattered) > 0.05


def test_frames_outside_the_mask_do_not_count():
    real, mask = smooth_noise(2), np.zeros(400, bool)
    mask[100:200] = True
    rendered = smooth_noise(3)
    rendered[100:200] = real[100:200]

    assert correlation(rendered, real, mask) == pytest.approx(1)


def test_a_mouth_that_never_moves_has_no_correlation():
    assert correlation(np.zeros(400), smooth_noise(4), np.ones(400, bool)) == 0


def test_a_shorter_rendered_curve_is_compared_as_far_as_it_goes():
    real = smooth_noise(5)

    assert correlation(real[:300], real, np.ones(400, bool), lag=0) == pytest.approx(1)


def test_too_few_frames_are_refused():
    mask = np.zeros(400, bool)
    mask[:5] = True

    with pytest.raises(ValueError, match="only 5 frames"):
        correlation(smooth_noise(6), smooth_noise(7), mask)
