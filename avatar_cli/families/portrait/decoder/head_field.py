"""The common field: a smooth forward displacement of the whole head that dies away in the body."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.decoder.face_frame import SKIN_POINTS, FaceFrame
from avatar_cli.families.portrait.decoder.grid import FieldGrid
from avatar_cli.families.portrait.decoder.head_mask import layer_mask, sheet_mask
from avatar_cli.families.portrait.decoder.held_edges import HeldEdges
from avatar_cli.families.portrait.decoder.inversion import invert_displacement
from avatar_cli.families.portrait.decoder.layers import Layers
from avatar_cli.families.portrait.decoder.photo import density_for
from avatar_cli.families.portrait.decoder.spline import ThinPlateSpline
from avatar_cli.families.portrait.landmarks import (
    FACE_OVAL,
    LEFT_EYE,
    LOWER_LIP_RINGS,
    RIGHT_EYE,
    UPPER_LIP_RINGS,
)

_SMOOTHING = 5e-4
_NEWTON_STEPS = 4
_CELLS_PER_EYE_DISTANCE = 13
_MOUTH_CORNERS = (61, 291)
_CELLS_PER_BAND = 7


@dataclass(frozen=True)
class Part:
    """A part of the head's box, in pixels from the corner of that.

    Attributes:
        box: Its sides are multiples of the grid's step, except at the ends of the head's box.
        opaque_left: Between this column and `opaque_right` nothing behind the layer is seen.
        opaque_right: The column after the last of these; not after `opaque_left` where there are none.
    """

    box: Box
    opaque_left: int
    opaque_right: int


class HeadField:
    """Carries the mesh's displacement to a coarse grid over the head and inverts it.

    The lips and lid lines take no part: they belong to the slits. Two rings of anchors outside the face
    outline stand for the skull; they follow the head and not the expression, and lie at the depth of the
    neck pivot, so that turning the head leaves its silhouette nearly still, as on a real head.
    """

    def __init__(self, face: FaceFrame, box: Box, layers: Layers) -> None:
        """Prepare the field of a face, for the part `box` of the canvas that may change."""
        step = int(np.clip(round(face.eye_distance / _CELLS_PER_EYE_DISTANCE), 4, 16))
        self.box = box
        self.grid = FieldGrid(box, step, density_for(box))
        slit_points = {index for ring in UPPER_LIP_RINGS[:3] + LOWER_LIP_RINGS[:3] for index in ring}
        for eye in (LEFT_EYE, RIGHT_EYE):
            slit_points.update(eye.upper_lid[1:-1] + eye.lower_lid[1:-1])
        slit_points.difference_update(_MOUTH_CORNERS)
        self._vertices = np.array([index for index in range(SKIN_POINTS) if index not in slit_points])
        self.anchors = _skull_anchors(face)
        anchor_pixels = face.pose.to_pixels(self.anchors)[:, :2]
        spline = ThinPlateSpline(np.concatenate([face.points[self._vertices], anchor_pixels]), _SMOOTHING)
        person = np.ascontiguousarray(layers.person[box.inside])
        mask_of = layer_mask if layers.person_is_apart else sheet_mask
        mask = mask_of(face, person, self.grid)
        self._moving = np.flatnonzero(mask > 0)
        self._operator = spline.operator(self.grid.nodes[self._moving]) * mask[self._moving, None]
        self._edges = HeldEdges(face, self.grid, layers.opacity)
        self._extents = _Extents(self.grid, layers.opacity[box.inside])

    def displacement(
        self, vertices: NDArray[np.float32], anchors: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Forward field [rows, columns, 2] (px) for vertices [478, 2] and anchors [A, 2] moved by px."""
        moved = np.concatenate([vertices[self._vertices], anchors])
        # Twice a matrix by a vector is faster than once by two columns: reading the matrix is the cost.
        field = np.zeros((self.grid.rows, self.grid.columns, 2), np.float32)
        nodes = field.reshape(-1, 2)
        nodes[self._moving, 0] = self._operator @ moved[:, 0]
        nodes[self._moving, 1] = self._operator @ moved[:, 1]
        self._edges.hold(field)
        return field

    def inverse(self, displacement: NDArray[np.float32]) -> NDArray[np.float32]:
        """Backward field [rows, columns, 2] (px) of a forward one."""
        return invert_displacement(displacement, self.grid.step, _NEWTON_STEPS)

    def parts(self, displacement: NDArray[np.float32]) -> list[Part]:
        """Parts of the box that together show all of the moved layer."""
        return self._extents.moved(displacement)


class _Extents:
    """How far to the left and right a layer reaches, and its opaque middle, row of nodes by row."""

    def __init__(self, grid: FieldGrid, opacity: NDArray[np.uint8]) -> None:
        """Look where the layer [h, w] of the grid's box shows anything, and where it hides everything."""
        self._grid = grid
        step = grid.step
        rows, columns = grid.rows - 2, grid.columns - 2
        padding = ((0, rows * step - grid.box.height), (0, columns * step - grid.box.width))
        cells = np.pad(opacity, padding, mode="edge").reshape(rows, step, columns, step)
        shown, opaque = cells.max(axis=(1, 3)) > 0, cells.min(axis=(1, 3)) == 255
        self._rows = np.flatnonzero(shown.any(axis=1))
        shown, opaque = shown[self._rows], opaque[self._rows]
        left, right = shown.argmax(axis=1), columns - shown[:, ::-1].argmax(axis=1)
        # Left, top, right and bottom of what is shown in every row of cells, px.
        self._shown = step * np.stack([left, self._rows, right, self._rows + 1])
        self._opaque = step * np.stack([_longest_run(row) for row in opaque], axis=1)

    def moved(self, displacement: NDArray[np.float32]) -> list[Part]:
        """See `HeadField.parts`."""
        grid, step = self._grid, self._grid.step
        rows = np.ascontiguousarray(displacement[1:-1])
        # Between nodes a pixel moves by no more than its neighbours do, and they differ by less than a step.
        least = cv2.reduce(rows, 1, cv2.REDUCE_MIN)[self._rows, 0].T - step
        most = cv2.reduce(rows, 1, cv2.REDUCE_MAX)[self._rows, 0].T + step
        shown = self._shown + np.concatenate([least, most])
        opaque = self._opaque + np.stack([most[0], least[0]])
        height = _CELLS_PER_BAND * step
        parts = []
        for start in range(0, grid.box.height, height):
            end = min(start + height, grid.box.height)
            here = (shown[1] < end) & (shown[3] > start)
            if not here.any():
                continue
            first = max(int(shown[0, here].min()) // step, 0) * step
            last = min(-(-int(shown[2, here].max()) // step) * step, grid.box.width)
            if first < last:
                middle = (int(opaque[0, here].max()) + 1, int(opaque[1, here].min()))
                parts.append(Part(Box(first, start, last, end), max(middle[0], first), min(middle[1], last)))
        return parts


def _longest_run(flags: NDArray[np.bool_]) -> tuple[int, int]:
    """Start and end of the longest run of true ones; an empty one where there is none."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]])))
    starts, ends = edges[::2], edges[1::2]
    if not len(starts):
        return 0, 0
    longest = int(np.argmax(ends - starts))
    return int(starts[longest]), int(ends[longest])


def _skull_anchors(face: FaceFrame) -> NDArray[np.float64]:
    """The face outline [A, 3], e, pushed outward to 1.5 and 2.1 and to the depth of the head's middle."""
    outline = face.canonical[list(FACE_OVAL)]
    centre = outline.mean(axis=0)
    depth = face.canonical[[234, 454], 2].mean() + 0.15
    offset = outline[:, :2] - centre[:2]
    below = np.maximum(0.0, offset[:, 1] / np.linalg.norm(offset, axis=1))
    rings = []
    for factor in (1.5, 2.1):
        ring = np.empty_like(outline)
        ring[:, :2] = centre[:2] + offset * (factor * (1 + 0.12 * below))[:, None]
        ring[:, 2] = depth
        rings.append(ring)
    return np.concatenate(rings)
