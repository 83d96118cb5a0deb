"""The mouth: two sheets of lip and skin, and the interior between them."""

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.compositing import premultiplied
from avatar_cli.families.portrait.decoder.face_frame import SKIN_POINTS, FaceFrame
from avatar_cli.families.portrait.decoder.grid import FieldGrid
from avatar_cli.families.portrait.decoder.lips import LIP_CURVE
from avatar_cli.families.portrait.decoder.masks import Ellipse, blend, soften
from avatar_cli.families.portrait.decoder.matched_view import MatchedView
from avatar_cli.families.portrait.decoder.mouth_interior import MouthInterior
from avatar_cli.families.portrait.decoder.opening import Opening
from avatar_cli.families.portrait.decoder.slit import SlitPatch, SlitShape
from avatar_cli.families.portrait.decoder.spline import ThinPlateSpline, smoothstep
from avatar_cli.families.portrait.decoder.warped_head import WarpedHead
from avatar_cli.families.portrait.landmarks import (
    INNER_LOWER_LIP,
    INNER_UPPER_LIP,
    LOWER_LIP_RINGS,
    UPPER_LIP_RINGS,
)

_SMOOTHING = 1e-5
_CELLS_PER_EYE_DISTANCE = 38
_GHOST_OPENING = 0.03  # e
_SEAM_BLUR = 0.006  # e
_INTERIOR_BLUR = 0.008  # e
_FIRST_OPENING = 0.6  # px: below it no interior is drawn
_FULL_OPENING = 1.8  # px
_MOVED = 0.015  # e
_UPPER = list(INNER_UPPER_LIP)
_LOWER = list(INNER_LOWER_LIP)


class Mouth:
    """Draws the mouth of every frame over the warped head."""

    def __init__(self, face: FaceFrame, head_grid: FieldGrid, open_mouth: MatchedView | None) -> None:
        """Cut the sheets and prepare the interior, from `open_mouth` where there is such a view."""
        self._face = face
        self._patch = SlitPatch(_shape(face), head_grid)
        self._moving = np.flatnonzero(self._patch.weight > 0)
        self._weight = self._patch.weight.reshape(-1, 1)[self._moving]
        self._upper_nodes, self._upper_operator = self._sheet(face, upper=True)
        self._lower_nodes, self._lower_operator = self._sheet(face, upper=False)
        self._interior = MouthInterior(face, self._patch.box, open_mouth)

    def draw(self, head: WarpedHead, moved: NDArray[np.float32], mesh: NDArray[np.float64]) -> None:
        """Draw into `head.picture`.

        Args:
            head: The warped head.
            moved: float32 [478, 2], displacement of the mesh, px.
            mesh: float64 [478, 3], the frame's mesh in the canonical frame, e.
        """
        face, patch = self._face, self._patch
        common = patch.common(head.displacement)
        upper_field = self._field(self._upper_operator, moved[self._upper_nodes], common)
        lower_field = self._field(self._lower_operator, moved[self._lower_nodes], common)
        placement = patch.place(moved[_UPPER + _LOWER].mean(axis=0))
        upper = LIP_CURVE @ (face.points[_UPPER] + moved[_UPPER])
        lower = LIP_CURVE @ (face.points[_LOWER] + moved[_LOWER])
        corners = upper[-1] - upper[0]
        length = float(np.linalg.norm(corners))
        along = corners / length
        blur = max(0.5, _SEAM_BLUR * face.eye_distance)
        lower_mask = patch.below((upper + lower) / 2 - placement.box.origin, along, blur)
        picture = patch.picture(head.photo, (upper_field, lower_field), placement, lower_mask)
        opening = _opening(upper, lower, placement.box, face.eye_distance)
        if opening.widest > _FIRST_OPENING:
            self._draw_interior(head, picture, placement.box, mesh, opening)
        middle = (upper.mean(axis=0) + lower.mean(axis=0)) / 2
        grown = max(0.97, 1.03 * length / patch.shape.length)
        radii = (patch.shape.radii[0] * grown, patch.shape.radii[1] * grown)
        degrees = float(np.degrees(np.arctan2(along[1], along[0])))
        patch.paste(head.picture, head.box, picture, placement, Ellipse(middle, radii, degrees))

    def _draw_interior(
        self,
        head: WarpedHead,
        picture: NDArray[np.uint8],
        picture_box: Box,
        mesh: NDArray[np.float64],
        opening: Opening,
    ) -> None:
        box = opening.box
        edge = soften(opening.mask(), max(0.6, _INTERIOR_BLUR * self._face.eye_distance))
        fade = min(1.0, (opening.widest - _FIRST_OPENING) / (_FULL_OPENING - _FIRST_OPENING))
        if self._face.mouth_is_open:
            # Lips that rest as in the photo leave its own interior in the sheets, untouched.
            lip_motion = np.abs(mesh[_UPPER + _LOWER] - self._face.canonical[_UPPER + _LOWER]).max()
            fade *= float(smoothstep(0.0, _MOVED, lip_motion))
        if fade < 1.0:
            edge = (edge * np.float32(fade)).astype(np.uint8)
        if not edge.any():
            return
        interior = self._interior.draw(mesh, head.pose, opening)
        region = picture[
            box.top - picture_box.top : box.bottom - picture_box.top,
            box.left - picture_box.left : box.right - picture_box.left,
        ]
        if head.photo.is_cutout:  # the mouth of a person who is half transparent is so too
            interior = premultiplied(interior[..., :3].copy(), region[..., 3].copy())
        region[...] = blend(region, interior, edge)

    def _field(
        self, operator: NDArray[np.float32], moved: NDArray[np.float32], common: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """The common field, and where the sheet moves on its own, the share of its own that it has there."""
        own = np.stack([operator @ moved[:, 0], operator @ moved[:, 1]], axis=1)
        field = common.copy()
        nodes = field.reshape(-1, 2)
        shared = nodes[self._moving]
        nodes[self._moving] = shared + self._weight * (own - shared)
        return field

    def _sheet(self, face: FaceFrame, upper: bool) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Vertices that carry one sheet, and the operator from their displacement to the nodes it moves.

        Across an opening in the photo the sheet has ghost nodes: they lie on the other lip and move with this
        one. Without them the sheet is squeezed toward the other side and folds.
        """
        shape = self._patch.shape
        points = face.points[:SKIN_POINTS]
        reach = 1.35 * 1.02 * max(shape.radii)
        near = np.linalg.norm(points - shape.centre, axis=1) < reach
        own_rings, other_rings = (
            (UPPER_LIP_RINGS, LOWER_LIP_RINGS) if upper else (LOWER_LIP_RINGS, UPPER_LIP_RINGS)
        )
        own = {index for ring in own_rings for index in ring}
        other = {index for ring in other_rings for index in ring[1:-1]}
        width = np.linalg.norm(points[291] - points[61])
        offset = points - (points[13] + points[14]) / 2
        beyond = offset @ face.down * (1 if upper else -1)
        straight_beyond = (np.abs(offset @ face.right) < 0.36 * width) & (beyond > 0.02 * width)
        vertices = [
            index
            for index in np.flatnonzero(near)
            if index not in other and (index in own or not straight_beyond[index])
        ]
        pairs = zip(_UPPER[1:-1], _LOWER[1:-1], strict=True)
        apart = [
            pair
            for pair in pairs
            if np.linalg.norm(points[pair[0]] - points[pair[1]]) > _GHOST_OPENING * face.eye_distance
        ]
        movers = [a if upper else b for a, b in apart]
        places = [b if upper else a for a, b in apart]
        spline = ThinPlateSpline(points[vertices + places], _SMOOTHING)
        return np.array(vertices + movers), spline.operator(self._patch.grid.nodes[self._moving])


def _shape(face: FaceFrame) -> SlitShape:
    points = face.points
    unit = face.eye_distance
    corners = points[_UPPER[-1]] - points[_UPPER[0]]
    length = float(np.linalg.norm(corners))
    return SlitShape(
        centre=points[_UPPER + _LOWER].mean(axis=0),
        along=corners / length,
        length=length,
        radii=(0.95 * length, max(0.85 * length, 0.45 * length + 0.81 * face.widest_gap * unit)),
        room=(0.1 * unit, 0.1 * unit, 0.1 * unit, 0.2 * unit),
        step=int(np.clip(round(unit / _CELLS_PER_EYE_DISTANCE), 2, 6)),
    )


def _opening(
    upper: NDArray[np.floating], lower: NDArray[np.floating], patch_box: Box, eye_distance: float
) -> Opening:
    room = int(0.05 * eye_distance) + 3
    both = np.concatenate([upper, lower])
    left, top = np.floor(both.min(axis=0)).astype(int) - room
    right, bottom = np.ceil(both.max(axis=0)).astype(int) + room
    box = Box(
        max(int(left), patch_box.left),
        max(int(top), patch_box.top),
        min(int(right), patch_box.right),
        min(int(bottom), patch_box.bottom),
    )
    return Opening(upper, lower, box)
