import cv2
import numpy as np
import pytest

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.decoder.grid import FieldGrid
from avatar_cli.families.portrait.decoder.inversion import invert_displacement

STEP = 4


def residual(forward, backward, rows=slice(None)):
    """Px by which a point sent back and then forward misses its start."""
    height, width = forward.shape[:2]
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    position = (np.stack([x, y], axis=-1)[rows] - backward / STEP).astype(np.float32)
    carried = cv2.remap(forward, position, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.linalg.norm(carried - backward, axis=-1)


def lid_like(drop):
    """A band that sinks by `drop` px over skin that stands still: stretched above, squeezed below."""
    y = np.arange(50, dtype=np.float32)[:, None] * STEP
    profile = drop * np.exp(-(((y - 100) / 28) ** 2))
    field = np.zeros((50, 60, 2), np.float32)
    field[..., 1] = profile
    return field


def test_no_motion_inverts_to_exactly_none():
    assert not invert_displacement(np.zeros((12, 15, 2), np.float32), STEP, 4).any()


@pytest.mark.parametrize("drop", [5.0, 15.0, 28.0])
def test_a_stretch_beyond_two_is_inverted_to_a_tenth_of_a_pixel(drop):
    forward = lid_like(drop)
    backward = invert_displacement(forward, STEP, 6)
    assert residual(forward, backward)[2:-2, 2:-2].max() < 0.1


def test_smooth_motion_in_both_directions_is_inverted():
    rng = np.random.default_rng(0)
    forward = cv2.resize(
        rng.normal(0, 9, (5, 6, 2)).astype(np.float32), (60, 50), interpolation=cv2.INTER_CUBIC
    )
    backward = invert_displacement(forward, STEP, 4)
    assert residual(forward, backward)[5:-5, 5:-5].max() < 0.15


def test_chosen_rows_are_those_of_the_whole_field():
    forward = lid_like(20.0)
    whole = invert_displacement(forward, STEP, 6)
    part = invert_displacement(forward, STEP, 6, slice(10, 23))
    assert part == pytest.approx(whole[10:23], abs=0.02)


@pytest.mark.parametrize("density", [1, 2])
def test_an_unmoved_grid_maps_every_pixel_to_itself_exactly(density):
    grid = FieldGrid(Box(37, 11, 640, 402), 13, density)
    still = np.zeros((grid.rows, grid.columns, 2), np.float32)
    source = grid.source_map(still, 0, grid.box.height)
    assert np.array_equal(source, grid.pixels)
    assert source[5, 9].tolist() == [(37 + 9) * density, (11 + 5) * density]


def test_a_linear_field_is_upsampled_exactly_in_whole_and_in_part():
    grid = FieldGrid(Box(20, 30, 151, 172), 7, density=2)
    slope = np.array([[0.10, 0.03], [-0.05, 0.2]])
    nodes = (grid.nodes @ slope).reshape(grid.rows, grid.columns, 2).astype(np.float32)
    expected = grid.pixels - grid.pixels @ slope
    assert grid.source_map(nodes, 0, 142) == pytest.approx(expected, abs=1e-3)
    part = nodes[grid.node_rows(40, 93)]
    assert grid.source_map(part, 40, 93) == pytest.approx(expected[40:93], abs=1e-3)


def test_node_indices_are_the_inverse_of_node_positions():
    grid = FieldGrid(Box(-5, 8, 90, 77), 6, density=1)
    indices = grid.index_of(grid.nodes).reshape(grid.rows, grid.columns, 2)
    assert indices[3, 4] == pytest.approx([4, 3])
    assert indices[-1, 0] == pytest.approx([0, grid.rows - 1])
