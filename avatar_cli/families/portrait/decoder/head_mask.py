"""Where on the canvas the head moves: all of it, less of the neck and shoulders, none of the background."""

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.decoder.face_frame import FaceFrame
from avatar_cli.families.portrait.decoder.grid import FieldGrid
from avatar_cli.families.portrait.decoder.spline import smoothstep

# Half axes of the head's ellipse: sideways in face widths, up and down in face heights from a centre that
# lies this many face heights above that of the face.
_SIDEWAYS, _UP, _DOWN, _CENTRE = 0.65, 0.725, 0.62, 0.10
_WHOLE, _STILL = 1.0, 2.1  # ellipses between which motion dies away
# A layer of its own carries hair, ears and hats whole; only toward the shoulders its motion dies as early.
_HAIR = 0.8
# Face widths from the person between which the field of a layer ends: further than it ever moves.
_ROOM = (0.20, 0.45)
_UNSEEN = 0.02  # share of the head's motion
_LIKELY = 0.15  # probability from which a pixel may turn out to show the person


def moving_box(face: FaceFrame, person: NDArray[np.float32]) -> Box:
    """The part of the canvas that a moving head may change, for the photo's person mask [H, W] (0..1)."""
    picture = face.picture
    x, y = face.centre
    reach_x, reach_y = (
        (_STILL + _HAIR) * max(_SIDEWAYS * face.width, _UP * face.height) * np.array([1.0, 1.1])
    )
    widest = Box(
        left=max(int(x - reach_x), picture.left),
        top=max(int(y - reach_y), picture.top),
        right=min(int(x + reach_x), picture.right),
        bottom=min(int(y + reach_y), picture.bottom),
    )
    step = max(int(face.eye_distance) // 16, 1)
    grid = FieldGrid(widest, step, density=1)
    near = _near(_at(_distance(person[widest.inside] > _LIKELY), grid), face, _ROOM)
    moving = (_falloff(face, grid, hair=_HAIR) * near).reshape(grid.rows, grid.columns) > _UNSEEN
    if not moving.any():
        return widest
    rows, columns = np.flatnonzero(moving.any(axis=1)), np.flatnonzero(moving.any(axis=0))
    return Box(
        left=max(widest.left, widest.left + (int(columns[0]) - 1) * step),
        top=max(widest.top, widest.top + (int(rows[0]) - 1) * step),
        right=min(widest.right, widest.left + int(columns[-1]) * step),
        bottom=min(widest.bottom, widest.top + int(rows[-1]) * step),
    )


def layer_mask(face: FaceFrame, person: NDArray[np.bool_], grid: FieldGrid) -> NDArray[np.float32]:
    """Share of the head's motion [nodes] for a `person` [h, w] of the grid's box who is a layer apart."""
    near = _near(_at(_distance(person), grid), face, _ROOM)
    return (_falloff(face, grid, hair=_HAIR) * near * _rest_at_cut_edges(face, grid)).astype(np.float32)


def sheet_mask(face: FaceFrame, person: NDArray[np.bool_], grid: FieldGrid) -> NDArray[np.float32]:
    """The same where person and background are one sheet: the background stays still sooner than the body."""
    near = _near(_at(_distance(person), grid), face, (0.0, _ROOM[1]))
    return (_falloff(face, grid, hair=0.0) * near * _rest_at_cut_edges(face, grid)).astype(np.float32)


def _falloff(face: FaceFrame, grid: FieldGrid, hair: float) -> NDArray[np.float64]:
    offset = grid.nodes - (face.centre - _CENTRE * face.height * face.down)
    across = offset @ face.right / (_SIDEWAYS * face.width)
    along = offset @ face.down / face.height
    along = np.where(along < 0, along / _UP, along / _DOWN)
    radius = np.hypot(across, along)
    further = hair * (1 - smoothstep(-0.2, 1.0, along))
    return 1 - smoothstep(0.0, 1.0, (radius - further - _WHOLE) / (_STILL - _WHOLE))


def _distance(person: NDArray[np.bool_]) -> NDArray[np.float32]:
    return np.asarray(cv2.distanceTransform((~person).view(np.uint8), cv2.DIST_L2, 5), np.float32)


def _at(values: NDArray[np.float32], grid: FieldGrid) -> NDArray[np.float32]:
    """`values` [h, w] of the grid's box at its nodes."""
    box = grid.box
    index = np.clip(np.round(grid.nodes - box.origin).astype(int), 0, [box.width - 1, box.height - 1])
    return values[index[:, 1], index[:, 0]]


def _near(distance: NDArray[np.float32], face: FaceFrame, ends: tuple[float, float]) -> NDArray[np.float64]:
    return 1 - smoothstep(ends[0] * face.width, ends[1] * face.width, distance)


def _rest_at_cut_edges(face: FaceFrame, grid: FieldGrid) -> NDArray[np.float64]:
    """0 at edges of the box that are none of the canvas: the pixels there are then those of the photo."""
    box, step = grid.box, grid.step
    rows, columns = face.image.shape[:2]
    to_edge = np.full(len(grid.nodes), np.inf)
    x, y = grid.nodes.T
    for is_cut, room in (
        (box.left > 0, x - box.left),
        (box.top > 0, y - box.top),
        (box.right < columns, box.right - 1 - x),
        (box.bottom < rows, box.bottom - 1 - y),
    ):
        if is_cut:
            to_edge = np.minimum(to_edge, room)
    return smoothstep(step, 4 * step, to_edge)
