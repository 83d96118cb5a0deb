"""The common field: a smooth forward displacement of the whole head that fades into the background."""

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.decoder.face_frame import SKIN_POINTS, FaceFrame
from avatar_cli.families.portrait.decoder.grid import FieldGrid
from avatar_cli.families.portrait.decoder.inversion import invert_displacement
from avatar_cli.families.portrait.decoder.photo import density_for
from avatar_cli.families.portrait.decoder.spline import ThinPlateSpline, smoothstep
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


class HeadField:
    """Carries the mesh's displacement to a coarse grid over the head and inverts it.

    The lips and lid lines take no part: they belong to the slits. Two rings of anchors outside the face
    outline stand for the skull; they follow the head and not the expression, and lie at the depth of the
    neck pivot, so that turning the head leaves its silhouette nearly still, as on a real head.
    """

    def __init__(self, face: FaceFrame, person: NDArray[np.float32]) -> None:
        """Prepare the field for a face and the photo's person mask [H, W] (0..1)."""
        step = int(np.clip(round(face.eye_distance / _CELLS_PER_EYE_DISTANCE), 4, 16))
        widest = FieldGrid(_widest_box(face), step, density=1)
        self.box = _moving_part(widest, _head_mask(face, person, widest))
        self.grid = FieldGrid(self.box, step, density_for(self.box))
        slit_points = {index for ring in UPPER_LIP_RINGS[:3] + LOWER_LIP_RINGS[:3] for index in ring}
        for eye in (LEFT_EYE, RIGHT_EYE):
            slit_points.update(eye.upper_lid[1:-1] + eye.lower_lid[1:-1])
        slit_points.difference_update(_MOUTH_CORNERS)
        self._vertices = np.array([index for index in range(SKIN_POINTS) if index not in slit_points])
        self.anchors = _skull_anchors(face)
        anchor_pixels = face.pose.to_pixels(self.anchors)[:, :2]
        spline = ThinPlateSpline(np.concatenate([face.points[self._vertices], anchor_pixels]), _SMOOTHING)
        mask = _head_mask(face, person, self.grid)
        self._moving = np.flatnonzero(mask > 0)
        self._operator = spline.operator(self.grid.nodes[self._moving]) * mask[self._moving, None]

    def displacement(
        self, vertices: NDArray[np.float32], anchors: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Forward field [rows, columns, 2] (px) for vertices [478, 2] and anchors [A, 2] moved by px."""
        moved = np.concatenate([vertices[self._vertices], anchors])
        # Twice a matrix by a vector is faster than once by two columns: reading the matrix is the cost.
        field = np.zeros((self.grid.rows * self.grid.columns, 2), np.float32)
        field[self._moving, 0] = self._operator @ moved[:, 0]
        field[self._moving, 1] = self._operator @ moved[:, 1]
        return field.reshape(self.grid.rows, self.grid.columns, 2)

    def source_map(self, displacement: NDArray[np.float32]) -> NDArray[np.float32]:
        """Canvas position [h, w, 2] from which every pixel of the box is taken."""
        backward = invert_displacement(displacement, self.grid.step, _NEWTON_STEPS)
        return self.grid.source_map(backward, 0, self.box.height)


def _widest_box(face: FaceFrame) -> Box:
    picture = face.picture
    radius = 1.15 * max(face.width, face.height)
    x, y = face.centre
    return Box(
        left=max(int(x - 1.05 * radius), picture.left),
        top=max(int(y - 1.15 * radius), picture.top),
        right=min(int(x + 1.05 * radius), picture.right),
        bottom=min(int(y + 1.15 * radius), picture.bottom),
    )


def _moving_part(grid: FieldGrid, mask: NDArray[np.float32]) -> Box:
    """The smallest box around the pixels that the mask lets move; the whole box where none may."""
    moving = mask.reshape(grid.rows, grid.columns) > 0
    if not moving.any():
        return grid.box
    rows = np.flatnonzero(moving.any(axis=1))
    columns = np.flatnonzero(moving.any(axis=0))
    box, step = grid.box, grid.step
    return Box(
        left=max(box.left, box.left + (int(columns[0]) - 2) * step),
        top=max(box.top, box.top + (int(rows[0]) - 2) * step),
        right=min(box.right, box.left + (int(columns[-1]) + 2) * step),
        bottom=min(box.bottom, box.top + (int(rows[-1]) + 2) * step),
    )


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


def _head_mask(face: FaceFrame, person: NDArray[np.float32], grid: FieldGrid) -> NDArray[np.float32]:
    """1 on the head, falling to 0 in the background, on the shoulders and at cut edges of the box [nodes]."""
    offset = grid.nodes - (face.centre - 0.10 * face.height * face.down)
    across = offset @ face.right / (0.65 * face.width)
    along = offset @ face.down
    along = np.where(along < 0, along / (0.725 * face.height), along / (0.62 * face.height))
    radius = np.hypot(across, along)
    # The background keeps still sooner than the body: motion dies within half a face outside the person.
    box = grid.box
    outside = (person[box.top : box.bottom, box.left : box.right] < 0.5).astype(np.uint8)
    # A drawn or carved face may be no person to the segmentation network; it is one to us.
    outline = (face.points[list(FACE_OVAL)] - box.origin).astype(np.int32)
    cv2.fillPoly(outside, [outline], 0)
    distance = cv2.distanceTransform(outside, cv2.DIST_L2, 5)
    index = np.clip(np.round(grid.nodes - box.origin).astype(int), 0, [box.width - 1, box.height - 1])
    near_person = 1 - smoothstep(0.0, 0.45 * face.width, distance[index[:, 1], index[:, 0]])
    mask = (1 - smoothstep(1.0, 2.1, radius)) * near_person
    rows, columns = face.image.shape[:2]
    to_edge = np.full(len(mask), np.inf)
    x, y = grid.nodes.T
    for is_cut, room in (
        (box.left > 0, x - box.left),
        (box.top > 0, y - box.top),
        (box.right < columns, box.right - 1 - x),
        (box.bottom < rows, box.bottom - 1 - y),
    ):
        if is_cut:
            to_edge = np.minimum(to_edge, room)
    # One cell of rest at a cut edge: the pixels there are then those of the photo.
    return (mask * smoothstep(grid.step, 4 * grid.step, to_edge)).astype(np.float32)
