"""A head that the picture cuts, and motion that would show what lies beyond its edge."""

import numpy as np
import pytest

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.decoder.face_frame import FaceFrame
from avatar_cli.families.portrait.decoder.grid import FieldGrid
from avatar_cli.families.portrait.decoder.held_edges import HeldEdges
from tests.families.portrait.decoder.portraits import HEIGHT, WIDTH

STEP = 8


@pytest.fixture
def face(closed_portrait):
    return FaceFrame.of(closed_portrait.reference)


@pytest.fixture
def grid():
    return FieldGrid(Box(0, 0, WIDTH, HEIGHT), STEP, density=1)


def held(face, grid, motion, opacity):
    """A field that moves everything by `motion` (x, y), px, with the edges held."""
    field = np.empty((grid.rows, grid.columns, 2), np.float32)
    field[...] = motion
    HeldEdges(face, grid, opacity).hold(field)
    return field


def whole():
    return np.full((HEIGHT, WIDTH), 255, np.uint8)


def test_a_nod_draws_out_what_the_upper_edge_cuts_and_leaves_the_face(face, grid):
    down = held(face, grid, (0.0, 6.0), whole())[..., 1]
    rows = grid.nodes[:: grid.columns, 1]
    assert np.interp(0, rows, down[:, 10]) <= 0.5
    assert (np.diff(down[rows < 24, 10]) >= 0).all()
    assert (np.diff(down[:, 10]) < 0.7 * STEP).all()
    face_rows = (rows >= face.points[:, 1].min()) & (rows < HEIGHT - 1)
    assert (down[face_rows] == 6).all()


@pytest.mark.parametrize("motion", [(0.0, -6.0), (0.0, 0.0)])
def test_motion_out_of_the_picture_needs_nothing_from_beyond(face, grid, motion):
    opacity = whole()
    opacity[-1] = 0
    assert (held(face, grid, motion, opacity) == motion).all()


def test_an_edge_that_cuts_nothing_is_not_held(face, grid):
    opacity = whole()
    opacity[0] = 0
    assert (held(face, grid, (0.0, 6.0), opacity) == (0.0, 6.0)).all()
