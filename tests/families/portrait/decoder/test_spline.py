import numpy as np
import pytest

from avatar_cli.families.portrait.decoder.spline import ThinPlateSpline, natural_cubic_operator, smoothstep


@pytest.fixture
def nodes():
    return np.random.default_rng(1).uniform(100, 500, (60, 2))


def test_without_smoothing_the_spline_passes_through_its_nodes(nodes):
    values = np.random.default_rng(2).normal(size=(60, 2))
    operator = ThinPlateSpline(nodes, 0.0).operator(nodes)
    assert operator @ values == pytest.approx(values, abs=1e-3)


def test_affine_motion_is_reproduced_everywhere(nodes):
    matrix, shift = np.array([[1.1, -0.2], [0.3, 0.9]]), np.array([4.0, -7.0])
    queries = np.random.default_rng(3).uniform(0, 600, (40, 2))
    values = ThinPlateSpline(nodes, 1e-3).evaluate(nodes @ matrix + shift, queries)
    assert values == pytest.approx(queries @ matrix + shift, abs=0.05)


def test_operator_and_evaluation_agree(nodes):
    values = np.random.default_rng(4).normal(size=(60, 3))
    queries = np.random.default_rng(5).uniform(100, 500, (30, 2))
    spline = ThinPlateSpline(nodes, 1e-4)
    assert spline.operator(queries) @ values == pytest.approx(spline.evaluate(values, queries), abs=1e-3)


def test_smoothing_takes_out_a_single_spike(nodes):
    values = np.zeros((60, 1))
    values[7] = 1.0
    smooth = ThinPlateSpline(nodes, 0.05).evaluate(values, nodes)
    assert abs(smooth[7, 0]) < 0.9


def test_cubic_refinement_keeps_the_knots_and_straight_lines():
    operator = natural_cubic_operator(9, 5)
    knots = np.random.default_rng(6).normal(size=(9, 2))
    assert operator.shape == (41, 9)
    assert (operator @ knots)[::5] == pytest.approx(knots, abs=1e-5)
    line = np.stack([np.arange(9.0), 2 * np.arange(9.0)], axis=1)
    assert operator @ line == pytest.approx(np.linspace([0, 0], [8, 16], 41), abs=1e-5)


def test_cubic_refinement_is_smooth_at_the_knots():
    curve = natural_cubic_operator(7, 50) @ np.random.default_rng(7).normal(size=7)
    second = np.diff(curve, 2)
    assert np.abs(np.diff(second)).max() < 0.05 * np.abs(second).max()


def test_smoothstep_runs_from_0_to_1():
    assert smoothstep(2.0, 4.0, np.array([1.0, 2.0, 3.0, 4.0, 9.0])) == pytest.approx([0, 0, 0.5, 1, 1])
