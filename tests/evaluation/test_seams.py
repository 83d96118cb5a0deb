import numpy as np
import pytest

from avatar_cli.evaluation.seams import chunk_borders, jump_course, seam_figures


def walk(seed, frames, channels=3):
    steps = np.random.default_rng(seed).normal(size=(frames, channels))
    return np.cumsum(steps, axis=0)


def test_borders_lie_where_n_and_i_chunks_take_turns():
    assert chunk_borders(130, 48, 10) == [48, 58, 106, 116]
    assert chunk_borders(100, 48, 0) == [48, 96]
    assert chunk_borders(48, 48, 10) == []


def test_borders_like_any_other_frame_show_nothing():
    borders = chunk_borders(6000, 20, 5)

    figures = seam_figures(walk(0, 6000), borders)

    assert figures.borders == len(borders)
    assert figures.position_above == pytest.approx(0.05, abs=0.02)
    assert figures.velocity_above == pytest.approx(0.05, abs=0.02)


def test_a_jump_at_borders_is_seen_in_position_and_velocity():
    curves = walk(1, 600)
    borders = chunk_borders(600, 20, 5)
    for border in borders:
        curves[border:] += 10

    figures = seam_figures(curves, borders)

    assert figures.position_above == 1
    assert figures.position > 3
    assert figures.velocity_above > 0.9


def test_a_turn_at_borders_is_seen_in_velocity_alone():
    borders = chunk_borders(600, 20, 5)
    directions = np.ones(600)
    for border in borders:
        directions[border:] *= -1
    noise = np.random.default_rng(4).normal(size=(600, 1)) / 50
    curves = np.cumsum(directions)[:, None] + noise

    figures = seam_figures(curves, borders)

    assert figures.velocity_above > 0.45  # of two changes of velocity at a border, one is the turn
    assert figures.position_above < 0.2


def test_a_jump_one_frame_beside_a_border_is_not_the_borders():
    curves = walk(2, 600)
    for border in chunk_borders(600, 20, 5):
        curves[border + 2 :] += 10

    assert seam_figures(curves, chunk_borders(600, 20, 5)).position_above < 0.2


def test_channels_that_never_move_are_left_out():
    curves = walk(3, 600)
    still = np.concatenate([curves, np.zeros((600, 1))], axis=1)
    borders = chunk_borders(600, 20, 5)

    assert seam_figures(still, borders) == seam_figures(curves, borders)


def test_the_course_of_jumps_shows_where_they_are():
    noise = np.random.default_rng(0).normal(size=(1200, 3))
    borders = list(range(60, 1200, 60))
    curves = np.cumsum(noise, axis=0)
    for border in borders:
        curves[border:] += 8

    steps, bends = (jump_course(curves, borders, order, reach=5) for order in (1, 2))

    assert steps.offsets.tolist() == list(range(-5, 6))
    assert steps.high[5] == steps.high.max() > 3
    assert np.delete(steps.high, 5) == pytest.approx(np.ones(10), abs=0.35)
    assert bends.median[5:7].min() > 2 > 2 * np.delete(bends.median, [5, 6]).max()
