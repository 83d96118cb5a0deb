"""The picture on the video's canvas: any picture, any face in it, any size of the video."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from avatar_cli.families.portrait.canvas import HAIR_ABOVE, ROOM_BELOW, ROOM_BESIDE, compose
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from avatar_cli.media.image_in import Photo
from avatar_cli.protocol.job import Fit

MESH = load_motion_basis().shape[:, :2]
MESH = (MESH - MESH.min(axis=0)) / np.ptp(MESH[:, 1])  # one unit high, from 0, 0
SCENE = 255
picture_sides = st.integers(24, 900)
video_sides = st.integers(32, 400).map(lambda half: 2 * half)
shares = st.floats(0, 1)


def gradient(width, height):
    """Red tells the column and green the row, as shares of the picture; blue is 0, which the scene is not."""
    picture = np.zeros((height, width, 3), np.uint8)
    picture[..., 0] = np.round(np.arange(width) * 255 / (width - 1))[None, :]
    picture[..., 1] = np.round(np.arange(height) * 255 / (height - 1))[:, None]
    return picture


@dataclass(frozen=True)
class Portrait:
    """Sizes of the picture, height of the face in it, and the corner of its box, in pixels."""

    width: int
    height: int
    tall: float
    left: float
    top: float

    @property
    def mesh(self):
        return MESH * self.tall + [self.left, self.top]


@st.composite
def portraits(draw, most_outside=0.0):
    """A picture, and the mesh of a face in it, up to a share of which is outside."""
    width, height = draw(picture_sides), draw(picture_sides)
    tall = draw(st.floats(0.05, 1)) * min(height - 1, (width - 1) / np.ptp(MESH[:, 0]))
    face = tall * MESH.max(axis=0)
    room = np.array([width, height]) - 1 - face
    slack = most_outside * face
    corner = np.array([draw(shares), draw(shares)]) * (room + 2 * slack) - slack
    assume(tall > 4)
    return Portrait(width, height, tall, *corner)


def composed(portrait, size, fit):
    scene = np.full((size[1], size[0], 3), SCENE, np.uint8)
    photo = Photo(path=Path("me.png"), pixels=gradient(portrait.width, portrait.height), opacity=None)
    return compose(photo, portrait.mesh, scene, fit)


def mapped(canvas, points):
    return np.asarray(points) @ canvas.transform[:, :2].T + canvas.transform[:, 2]


def is_full(canvas, size):
    box = canvas.picture
    return (box.left, box.top, box.right, box.bottom) == (0, 0, *size)


@settings(max_examples=80)
@given(portraits(most_outside=0.4), st.tuples(video_sides, video_sides), st.sampled_from(Fit))
def test_every_pixel_shows_what_the_transform_says(portrait, size, fit):
    width, height = portrait.width, portrait.height
    canvas = composed(portrait, size, fit)
    box = canvas.picture
    assert canvas.image.shape == (size[1], size[0], 3)
    assert 0 <= box.left < box.right <= size[0]
    assert 0 <= box.top < box.bottom <= size[1]
    outside = np.ones(canvas.image.shape[:2], bool)
    outside[box.top : box.bottom, box.left : box.right] = False
    assert (canvas.image[outside] == SCENE).all()
    assert (canvas.image[~outside][:, 2] < SCENE).all()

    scale, shift = canvas.transform[[0, 1], [0, 1]], canvas.transform[:, 2]
    assert (scale > 0).all()
    assert canvas.transform[0, 1] == canvas.transform[1, 0] == 0
    columns = (np.arange(box.left, box.right) - shift[0]) / scale[0]
    rows = (np.arange(box.top, box.bottom) - shift[1]) / scale[1]
    for places, length in ((columns, width), (rows, height)):
        assert places[0] > -0.51
        assert places[-1] < length - 0.49
    seen = canvas.image[box.top : box.bottom, box.left : box.right].astype(float)
    # Half a level of rounding, and half a pixel where a side is cut or enlarged to its edge.
    wanted = np.clip(columns, 0, width - 1) * 255 / (width - 1)
    assert np.abs(seen[..., 0] - wanted).max() <= 1.5 + 0.6 * 255 / (width - 1)
    wanted = np.clip(rows, 0, height - 1) * 255 / (height - 1)
    assert np.abs(seen[..., 1] - wanted[:, None]).max() <= 1.5 + 0.6 * 255 / (height - 1)


@settings(max_examples=80)
@given(portraits(most_outside=0.4), st.tuples(video_sides, video_sides), st.sampled_from(Fit))
def test_nothing_is_stretched_beyond_the_rounding_to_whole_pixels(portrait, size, fit):
    canvas = composed(portrait, size, fit)
    across, down = canvas.transform[0, 0], canvas.transform[1, 1]
    box = canvas.picture
    pixels = min(box.width / across, box.height / down, box.width, box.height)
    assert across / down == pytest.approx(1, abs=2.5 / pixels)


@settings(max_examples=80)
@given(portraits(), st.tuples(video_sides, video_sides))
def test_a_crop_shows_the_whole_face_and_has_bars_only_where_the_head_is_too_large(portrait, size):
    width, height, mesh = portrait.width, portrait.height, portrait.mesh
    canvas = composed(portrait, size, Fit.CROP)
    flat = mapped(canvas, mesh)
    pixel = np.maximum(canvas.transform[[0, 1], [0, 1]], 1)  # of the picture, on the canvas
    assert (flat >= -0.5 - pixel).all()
    assert (flat <= np.array(size) - 0.5 + pixel).all()

    aspect = size[0] / size[1]
    part = min(height, width / aspect)  # the highest part of the video's shape
    across, down = np.ptp(mesh, axis=0)
    head = (1 + HAIR_ABOVE + ROOM_BELOW) * down
    if head <= part and across * (1 + 2 * ROOM_BESIDE) <= part * aspect:
        assert is_full(canvas, size)
        assert not canvas.shows_scene


@settings(max_examples=60)
@given(portraits(most_outside=0.4), st.tuples(video_sides, video_sides))
def test_padding_shows_the_whole_picture_as_large_as_it_can_be_in_the_middle(portrait, size):
    canvas = composed(portrait, size, Fit.PAD)
    corners = mapped(canvas, [[-0.5, -0.5], [portrait.width - 0.5, portrait.height - 0.5]]) + 0.5
    box = canvas.picture
    assert corners == pytest.approx(np.array([[box.left, box.top], [box.right, box.bottom]]), abs=1e-6)
    assert box.width == size[0] or box.height == size[1]
    assert abs(box.left - (size[0] - box.right)) <= 2
    assert abs(box.top - (size[1] - box.bottom)) <= 2
