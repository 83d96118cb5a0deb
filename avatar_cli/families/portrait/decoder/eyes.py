"""Eyes: lids that close over the photo's own eyeball, lower lids that rise, and a gaze that turns."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.decoder.closed_lids import ClosedLids
from avatar_cli.families.portrait.decoder.eyeball import Eyeball
from avatar_cli.families.portrait.decoder.face_frame import SKIN_POINTS, FaceFrame
from avatar_cli.families.portrait.decoder.grid import FieldGrid
from avatar_cli.families.portrait.decoder.lid_room import RIM_SEEN, lid_room
from avatar_cli.families.portrait.decoder.lid_skin import LidSkin
from avatar_cli.families.portrait.decoder.masks import Ellipse, Mask, blend, polygon_mask, soften
from avatar_cli.families.portrait.decoder.matched_view import MatchedView
from avatar_cli.families.portrait.decoder.sampling import sample
from avatar_cli.families.portrait.decoder.slit import SlitPatch, SlitShape
from avatar_cli.families.portrait.decoder.spline import ThinPlateSpline, natural_cubic_operator
from avatar_cli.families.portrait.decoder.warped_head import WarpedHead
from avatar_cli.families.portrait.landmarks import Eye

_SMOOTHING = 1e-5
_CELLS_PER_EYE_DISTANCE = 55
_LID_POINTS = 9
LID_CURVE = natural_cubic_operator(_LID_POINTS, 5)
_LID_KNOTS = slice(5, -5, 5)  # of the curve: the points of the lid but the corners
_CURVE_MIDDLE = slice(16, 25)
UPPER_SHARE = 0.88  # of the opening is closed from above
_OVERSHOOT = 0.02  # e, hides white left below the tracked lower lid
# The lash line and the crease travel together, the smooth skin above them stretches: a crease that stays
# behind smears the lashes into a grey patch. What ends that skin must not travel with them.
_CREASE_FOLLOWING = 0.88
_BELOW_BROW_FOLLOWING = 0.28
# That skin may grow by this many times its height. A crease that is held back smears lashes and shadow into
# a dark band; below a rim of glasses that has to be.
_MOST_STRETCH = 3.0
_MOST_STRETCH_UNDER_GLASSES = 1.4
_HEIGHT = 0.70  # of the patch's ellipse, eye widths
_HEIGHT_UNDER_GLASSES = 0.55
_HELD_ABOVE = 0.03  # e: a second line of places above the first that do not follow the lid
_GHOST_OPENING = 0.03  # e
_UNDER_LID_FOLLOWING = 0.5
_SEAM_BLUR = 0.006  # e
_EDGE_BLUR = 0.007  # e
_LID_SHADOW = 0.35
_FIRST_OPENING = 1.0  # px


@dataclass(frozen=True)
class EyeMotion:
    """Of one frame, relative to the photo: `blink` -0.2 (wide) to 1, `squint` in e, gaze in iris radii."""

    blink: float
    squint: float
    gaze_x: float
    gaze_y: float

    @property
    def moves_lids(self) -> bool:
        """Whether the lids leave their place in the photo."""
        return self.blink != 0.0 or self.squint != 0.0

    @property
    def turns(self) -> bool:
        """Whether the gaze leaves its direction in the photo."""
        return self.gaze_x != 0.0 or self.gaze_y != 0.0

    @property
    def uncovers(self) -> bool:
        """Whether lids leave a part of the eyeball free that they cover in the photo."""
        return self.blink < 0.0 or self.squint < 0.0


@dataclass(frozen=True)
class _Lids:
    """Lid lines of one frame on the canvas.

    Attributes:
        upper: float64 [41, 2], edge of the upper lid, px.
        lower: float64 [41, 2], edge of the lower lid; where the lids cross, that of the upper one.
        along: float64 [2], unit vector from the left corner to the right one.
        opening: px in the middle; negative where the lids cross.
        travelled: float64 [2], mean displacement from the photo, px.
    """

    upper: NDArray[np.float64]
    lower: NDArray[np.float64]
    along: NDArray[np.float64]
    opening: float
    travelled: NDArray[np.float64]


class EyeRegion:
    """Draws one eye over the warped head.

    Everything here is an addition to the common field, so an eye that rests as in the photo needs no drawing.
    The motions of the lids are three, each with its own precomputed field in the canonical frame.
    """

    def __init__(self, face: FaceFrame, eye: Eye, head_grid: FieldGrid, closed: MatchedView | None) -> None:
        """Prepare the fields of the lids of `eye`, and its closed lids where a view `closed` shows them."""
        self._face = face
        self._upper = face.points[list(eye.upper_lid)]
        self._lower = face.points[list(eye.lower_lid)]
        self._patch = SlitPatch(_shape(face, eye), head_grid)
        self._head_grid = head_grid
        room = lid_room(face, eye)
        self._end_of_lid = _above_lid(face, eye, room)
        held = np.concatenate([self._end_of_lid, _above_lid(face, eye, room + _HELD_ABOVE)])
        motions = _lid_motions(face, eye, room)
        self._upper_motion = motions[list(eye.upper_lid)]
        self._lower_motion = motions[list(eye.lower_lid)]
        self._fields = (
            self._sheet(motions, eye.upper_lid, eye.lower_lid, eye.under_lid, held),
            self._sheet(motions, eye.lower_lid, eye.upper_lid, eye.crease, held[:0]),
        )
        self._skin = LidSkin(face, eye, self._end_of_lid)
        self._eyeball = Eyeball(face, eye, head_grid.density)
        self._closed = None if closed is None else ClosedLids(face, eye, closed, head_grid)
        self._open = float(np.linalg.norm(self._upper[4] - self._lower[4]))

    def draw(self, head: WarpedHead, motion: EyeMotion) -> None:
        """Draw into `head.picture`."""
        if not motion.moves_lids and not motion.turns:
            return
        amount = np.array([motion.blink, max(motion.blink, 0.0) ** 2, motion.squint], np.float32)
        lids = self._lids(head, amount)
        eyeball = self._between(head, motion, lids) if lids.opening >= _FIRST_OPENING else None
        if motion.moves_lids:
            self._draw_lids(head, amount, lids)
            self._skin.draw(head, lids.upper[_LID_KNOTS], self._moved_end(head), motion.blink)
        if eyeball is not None:
            region, picture, mask = eyeball
            region[...] = blend(region, picture, mask)
        if self._closed is not None:
            self._closed.draw(head, motion.blink)

    def _lids(self, head: WarpedHead, amount: NDArray[np.float32]) -> _Lids:
        """Both lid lines: carried by the common field, then closed."""
        resting = np.concatenate([self._upper, self._lower])
        carried = resting + sample(head.displacement, self._head_grid.index_of(resting)[None])[0]
        motion = np.concatenate([self._upper_motion, self._lower_motion])
        lids = carried + np.einsum("nbc,b->nc", motion, amount) @ (head.pose.scale * head.pose.rotation[:2].T)
        corners = lids[_LID_POINTS - 1] - lids[0]
        along = corners / np.linalg.norm(corners)
        upper, lower = LID_CURVE @ lids[:_LID_POINTS], LID_CURVE @ lids[_LID_POINTS:]
        gaps = (lower - upper) @ np.array([-along[1], along[0]])
        return _Lids(
            upper=upper,
            lower=np.where((gaps < 0)[:, None], upper, lower),
            along=along,
            opening=float(gaps[_CURVE_MIDDLE].max()),
            travelled=(lids - resting).mean(axis=0),
        )

    def _draw_lids(self, head: WarpedHead, amount: NDArray[np.float32], lids: _Lids) -> None:
        patch = self._patch
        placement = patch.place(lids.travelled)
        common = patch.common(head.displacement)
        to_pixels = (head.pose.scale * head.pose.rotation[:2].T).astype(np.float32)
        upper_field, lower_field = (
            np.asarray(common + (amount @ field).reshape(*common.shape[:2], 3) @ to_pixels, np.float32)
            for field in self._fields
        )
        blur = max(0.5, _SEAM_BLUR * self._face.eye_distance)
        lower_mask = patch.below(lids.lower - placement.box.origin, lids.along, blur)
        picture = patch.picture(head.photo, (upper_field, lower_field), placement, lower_mask)
        middle = (lids.upper.mean(axis=0) + lids.lower.mean(axis=0)) / 2
        degrees = float(np.degrees(np.arctan2(lids.along[1], lids.along[0])))
        ellipse = Ellipse(middle, patch.shape.radii, degrees)
        limit = self._below_rim(head, lids) if self._face.glasses > RIM_SEEN else None
        patch.paste(head.picture, head.box, picture, placement, ellipse, limit)

    def _moved_end(self, head: WarpedHead) -> NDArray[np.float64]:
        """What ends the skin of the upper lid, carried by the common field, [7, 2], px."""
        at = self._head_grid.index_of(self._end_of_lid)
        return np.asarray(self._end_of_lid + sample(head.displacement, at[None])[0])

    def _below_rim(self, head: WarpedHead, lids: _Lids) -> NDArray[np.float64]:
        """Outline [N, 2], px, of everything below the rim of the glasses."""
        rim = self._moved_end(head)
        far = 2 * self._patch.shape.length
        outward, down = far * lids.along, far * np.array([-lids.along[1], lids.along[0]])
        first, last = rim[0] - outward, rim[-1] + outward
        return np.array([first, *rim, last, last + down, first + down])

    def _between(
        self, head: WarpedHead, motion: EyeMotion, lids: _Lids
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8], Mask] | None:
        """Region of the head's picture, what is to be seen there, and the mask of the opening."""
        outline = np.concatenate([lids.upper, lids.lower[::-1]]) - head.box.origin
        left, top = np.maximum(np.floor(outline.min(axis=0)).astype(int) - 4, 0)
        right, bottom = np.minimum(
            np.ceil(outline.max(axis=0)).astype(int) + 4, [head.box.width, head.box.height]
        )
        if left >= right or top >= bottom:
            return None
        inside = (slice(top, bottom), slice(left, right))
        region = head.picture[inside]
        mask = polygon_mask(outline - [left, top], bottom - top, right - left)
        unit = self._face.eye_distance
        mask = np.asarray(cv2.erode(mask, np.ones((3, 3), np.uint8)), np.uint8)
        mask = soften(mask, max(0.6, _EDGE_BLUR * unit))
        if motion.turns or motion.uncovers:
            gaze = (motion.gaze_x, motion.gaze_y)
            picture = self._eyeball.draw(head.source[inside], gaze, region[..., 3])
        else:
            picture = region.copy()
        closed = self._open - float(np.linalg.norm(lids.upper[20] - lids.lower[20]))
        if motion.blink > 0 and closed > 0.02 * unit:
            shade = _LID_SHADOW * min(1.0, closed / (0.12 * unit))
            light = soften(mask, max(1.0, 0.03 * unit)).astype(np.float32) * np.float32(1 / 255)
            picture[..., :3] = picture[..., :3] * (1 - shade * (1 - light))[..., None]
        return region, picture, mask

    def _sheet(
        self,
        motions: NDArray[np.float64],
        own_lid: tuple[int, ...],
        other_lid: tuple[int, ...],
        other_ring: tuple[int, ...],
        held: NDArray[np.float64],
    ) -> NDArray[np.float32]:
        """Fields [motions, rows * columns * 3] of one sheet, held by every near point but the other lid's.

        Ghost nodes on the other lid move with this one, so that the sheet does not fold across the opening.
        The places `held` [N, 2] stay where they are.
        """
        face, shape = self._face, self._patch.shape
        points = face.points[:SKIN_POINTS]
        near = np.linalg.norm(points - shape.centre, axis=1) < 1.35 * max(shape.radii)
        near[list(other_lid[1:-1] + other_ring)] = False
        vertices = np.flatnonzero(near)
        own, other = points[list(own_lid[1:-1])], points[list(other_lid[1:-1])]
        carried = motions[list(own_lid[1:-1])]
        apart = np.linalg.norm(own - other, axis=1) > _GHOST_OPENING * face.eye_distance
        nodes = np.concatenate([points[vertices], other[apart], held])
        values = np.concatenate(
            [motions[vertices], carried[apart], np.zeros((len(held), *motions.shape[1:]))]
        )
        spline = ThinPlateSpline(nodes, _SMOOTHING)
        grid = self._patch.grid
        field = spline.evaluate(values.reshape(len(nodes), -1), grid.nodes)
        field = field.reshape(-1, motions.shape[1], 3) * self._patch.weight.reshape(-1, 1, 1)
        return np.ascontiguousarray(field.transpose(1, 0, 2)).reshape(motions.shape[1], -1)


def _above_lid(face: FaceFrame, eye: Eye, heights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Places [7, 2], px, by `heights` [7] (e) above the points of the upper lid but the corners."""
    lid = face.points[list(eye.upper_lid)]
    return np.asarray(lid[1:-1] + heights[:, None] * face.eye_distance * _up(lid))


def _up(lid: NDArray[np.float64]) -> NDArray[np.float64]:
    corners = lid[-1] - lid[0]
    return np.array([corners[1], -corners[0]]) / np.linalg.norm(corners)


def _following(
    face: FaceFrame, eye: Eye, closing: NDArray[np.float64], room: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shares [7] of the lid's motion `closing` [7] (e) with which crease and skin below the brow go along.

    The skin between two of them, and up to where it ends after `room` [7] (e), stretches by no more than
    `_MOST_STRETCH` where that can be.
    """
    lid = face.points[list(eye.upper_lid)]
    up = _up(lid) / face.eye_distance
    crease, below_brow = ((face.points[list(r)] - lid[1:-1]) @ up for r in (eye.crease, eye.below_brow))
    slope = _mixed(_MOST_STRETCH, _MOST_STRETCH_UNDER_GLASSES, face.glasses) / np.maximum(closing, 1e-3)
    of_crease = np.clip(slope * (room - crease), 0.0, _CREASE_FOLLOWING)
    of_brow = np.maximum(_BELOW_BROW_FOLLOWING, of_crease - slope * np.maximum(below_brow - crease, 0.0))
    return of_crease, np.clip(of_brow, 0.0, np.clip(slope * (room - below_brow), 0.0, None))


def _lid_motions(face: FaceFrame, eye: Eye, room: NDArray[np.float64]) -> NDArray[np.float64]:
    """Displacement [478, 3, 3] of the mesh in e for blink, blink squared and squint.

    `room` [7] is the height of the skin above the points of the upper lid but the corners, e.
    """
    canonical = face.canonical
    motions = np.zeros((len(canonical), 3, 3))
    upper, lower = list(eye.upper_lid), list(eye.lower_lid)
    opening = canonical[lower] - canonical[upper]
    bulge = np.sin(np.pi * np.arange(_LID_POINTS) / (_LID_POINTS - 1))
    closing = UPPER_SHARE * opening
    motions[upper, 0] = closing
    motions[upper, 1, 1] = _OVERSHOOT * bulge
    motions[lower, 0] = -(1 - UPPER_SHARE) * opening
    of_crease, of_brow = _following(face, eye, np.linalg.norm(closing[1:-1, :2], axis=1), room)
    motions[list(eye.crease), 0] = of_crease[:, None] * closing[1:-1]
    motions[list(eye.below_brow), 0] = of_brow[:, None] * closing[1:-1]
    motions[lower, 2, 1] = -bulge
    motions[list(eye.under_lid), 2, 1] = -_UNDER_LID_FOLLOWING * bulge[1:-1]
    return motions


def _shape(face: FaceFrame, eye: Eye) -> SlitShape:
    corners = face.points[eye.upper_lid[-1]] - face.points[eye.upper_lid[0]]
    length = float(np.linalg.norm(corners))
    unit = face.eye_distance
    return SlitShape(
        centre=face.points[list(eye.upper_lid + eye.lower_lid)].mean(axis=0),
        along=corners / length,
        length=length,
        radii=(0.90 * length, _mixed(_HEIGHT, _HEIGHT_UNDER_GLASSES, face.glasses) * length),
        room=(0.05 * unit, 0.05 * unit, 0.05 * unit, 0.05 * unit),
        step=int(np.clip(round(unit / _CELLS_PER_EYE_DISTANCE), 2, 4)),
    )


def _mixed(without: float, under: float, glasses: float) -> float:
    return without + glasses * (under - without)
