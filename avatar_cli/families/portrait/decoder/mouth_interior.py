"""What is seen between the lips: the photo's own teeth where it shows them, drawn ones otherwise."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.decoder.face_frame import FaceFrame
from avatar_cli.families.portrait.decoder.lips import LIP_CURVE
from avatar_cli.families.portrait.decoder.masks import Ellipse, Mask, blend, polygon_mask, soften
from avatar_cli.families.portrait.decoder.sampling import warp_affine
from avatar_cli.families.portrait.decoder.spline import smoothstep
from avatar_cli.families.portrait.decoder.teeth import ToothRow, lower_row, tooth_colour, upper_row
from avatar_cli.families.portrait.geometry import Pose
from avatar_cli.families.portrait.landmarks import INNER_LOWER_LIP, INNER_UPPER_LIP

_STANDARD_MOUTH = 0.52  # e
_JAW = [152, 148, 377, 176, 400, 175, 199]
_UPPER_LIP = 13
_LOWER_LIP = 14
_CHEEKS = [50, 280, 205, 425, 101, 330]
_LIP_COLOUR = [11, 12, 15, 16, 37, 267, 84, 314]
_CONTINUED = 0.16  # e beyond the photo's own opening
_DARK_CORNER = 0.08  # e
_SMALLEST_OPENING = 12  # px of own interior below which the photo counts as closed


@dataclass(frozen=True)
class Opening:
    """The opening between the lips in one frame.

    Attributes:
        upper: float [N, 2], curve of the inner upper lip, canvas px.
        lower: float [N, 2], curve of the inner lower lip, canvas px.
        box: Box around it with room for the shading.
    """

    upper: NDArray[np.floating]
    lower: NDArray[np.floating]
    box: Box

    @property
    def widest(self) -> float:
        """Largest distance of the two curves, px."""
        return float(np.linalg.norm(self.upper - self.lower, axis=1).max())

    def mask(self) -> Mask:
        """255 between the lips, over `box`."""
        outline = np.concatenate([self.upper, self.lower[::-1]]) - self.box.origin
        return polygon_mask(outline, self.box.height, self.box.width)


@dataclass(frozen=True)
class _OwnInterior:
    """The photo's own opening.

    Attributes:
        picture: uint8 [h, w, 4], continued beyond the lips; its alpha falls to 0 beside the known part, where
            the corners of a wider mouth are dark.
        above_lower_lip: Where it may be shown when the mouth opens further than in the photo.
        origin: Top left pixel (x, y).
    """

    picture: NDArray[np.uint8]
    above_lower_lip: Mask
    origin: NDArray[np.float32]


class MouthInterior:
    """Draws the inside of the mouth for one photo."""

    def __init__(self, face: FaceFrame, mouth_box: Box) -> None:
        """Take colours, and the photo's own interior inside `mouth_box`, from the photo."""
        self._face = face
        skin = np.median([_patch_mean(face, index, 3) for index in _CHEEKS], axis=0)
        lips = np.mean([_patch_mean(face, index, 0) for index in _LIP_COLOUR], axis=0)
        self._cavity = np.clip(lips * [0.19, 0.14, 0.14] + [8, 2, 2], 6, 70)
        self._tongue = lips * [0.66, 0.46, 0.48]
        self._size = face.mouth_width / _STANDARD_MOUTH
        density = float(np.clip(2 * face.eye_distance, 160, 480))
        colour = tooth_colour(skin)
        self._upper_teeth: ToothRow = upper_row(colour, face.mouth_width, density)
        self._lower_teeth: ToothRow = lower_row(colour, face.mouth_width, density)
        self._own = _own_interior(face, mouth_box) if face.mouth_is_open else None
        mesh = face.canonical
        self._seam = mesh[_UPPER_LIP] if self._own else (mesh[_UPPER_LIP] + mesh[_LOWER_LIP]) / 2

    def draw(self, mesh: NDArray[np.float64], pose: Pose, opening: Opening) -> NDArray[np.uint8]:
        """Picture [h, w, 4] over `opening.box`; `mesh` [478, 3] is the frame's canonical mesh, e."""
        face, box = self._face, opening.box
        picture = _plain(self._cavity, box)
        jaw = (mesh[_JAW] - face.canonical[_JAW]).mean(axis=0)
        gap = opening.widest / face.eye_distance
        wider = gap - face.widest_gap
        below = face.canonical[_LOWER_LIP] if self._own else self._seam
        # The wider the mouth, the more of the tongue shows above the lower lip.
        sink = 0.075 - 0.075 * float(smoothstep(0.06, 0.24, gap))
        tongue_at = mesh[_LOWER_LIP] + np.array([0.0, sink * self._size, 0.05])
        picture = self._with_tongue(picture, box, pose, tongue_at)
        # Under own teeth the lower row hides behind the lip until the jaw has dropped: it would be a second
        # row right below them.
        rise = 0.030 * float(smoothstep(0.05, 0.16, wider)) - 0.012 if self._own else -0.022
        lower_edge = below + np.array([jaw[0], jaw[1] - rise * self._size, 0.02])
        picture = self._lower_teeth.draw(picture, box.origin, pose, lower_edge)
        if self._own:
            picture = self._with_own(self._own, picture, box, pose, wider)
            shade = 0.25 * min(1.0, abs(wider) / 0.08)
        else:
            upper_edge = self._seam + np.array([0.0, 0.030 * self._size, 0.02])
            picture = self._upper_teeth.draw(picture, box.origin, pose, upper_edge)
            shade = 0.45
        return self._shaded(picture, opening, shade) if shade > 0 else picture

    def _with_tongue(
        self, picture: NDArray[np.uint8], box: Box, pose: Pose, at: NDArray[np.floating]
    ) -> NDArray[np.uint8]:
        unit = self._size * pose.scale
        degrees = float(np.degrees(np.arctan2(pose.rotation[1, 0], pose.rotation[0, 0])))
        centre = pose.to_pixels(at)[:2] - box.origin
        mask = Ellipse(centre, (0.20 * unit, 0.105 * unit), degrees).mask(box.height, box.width)
        return blend(picture, _plain(self._tongue, box), soften(mask, max(1.0, 0.03 * pose.scale)))

    def _with_own(
        self, own: _OwnInterior, picture: NDArray[np.uint8], box: Box, pose: Pose, wider: float
    ) -> NDArray[np.uint8]:
        photo = self._face.pose
        # Rigid with the skull: the affine part of the change of pose, about the upper lip.
        linear = (pose.scale * pose.rotation[:2, :2]) @ np.linalg.inv(photo.scale * photo.rotation[:2, :2])
        before, after = photo.to_pixels(self._seam)[:2], pose.to_pixels(self._seam)[:2]
        shift = after - box.origin - linear @ (before - own.origin)
        transform = np.column_stack([linear, shift])
        interior = warp_affine(own.picture, transform, box.width, box.height, cv2.BORDER_REPLICATE)
        mask = warp_affine(own.above_lower_lip, transform, box.width, box.height)
        # Not opened further than in the photo: the photo's own pixels down to the lower lip.
        whole = np.float32(1 - smoothstep(0.01, 0.06, wider))
        return blend(picture, interior, np.maximum(mask, (interior[..., 3] * whole).astype(np.uint8)))

    def _shaded(self, picture: NDArray[np.uint8], opening: Opening, strength: float) -> NDArray[np.uint8]:
        """Darker near the lips, most under the upper one.

        Toward the colour of the cavity: toward black teeth would turn blue.
        """
        unit = self._face.eye_distance
        light = np.asarray(
            cv2.convertScaleAbs(soften(opening.mask(), max(1.0, 0.035 * unit)), alpha=1.25), np.uint8
        )
        offset = max(1, round(0.03 * unit))
        lowered = np.zeros_like(light)
        lowered[offset:] = light[:-offset]
        seen = np.minimum(light, lowered) * np.float32(strength) + np.float32(255 * (1 - strength))
        return blend(_plain(0.8 * self._cavity, opening.box), picture, seen.astype(np.uint8))


def _plain(colour: NDArray[np.floating], box: Box) -> NDArray[np.uint8]:
    picture = np.empty((box.height, box.width, 4), np.uint8)
    picture[...] = (*np.round(colour).astype(int), 255)
    return picture


def _patch_mean(face: FaceFrame, index: int, radius: int) -> NDArray[np.float64]:
    rows, columns = face.image.shape[:2]
    x, y = np.clip(
        np.round(face.points[index]).astype(int), radius, [columns - 1 - radius, rows - 1 - radius]
    )
    return face.image[y - radius : y + radius + 1, x - radius : x + radius + 1].reshape(-1, 3).mean(axis=0)


def _own_interior(face: FaceFrame, mouth_box: Box) -> _OwnInterior | None:
    """The photo's opening, continued under the lips so that it can show where the lips retreat."""
    unit = face.eye_distance
    opening = Opening(
        LIP_CURVE @ face.points[list(INNER_UPPER_LIP)],
        LIP_CURVE @ face.points[list(INNER_LOWER_LIP)],
        mouth_box,
    )
    inset = max(1, round(0.012 * unit))
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * inset + 1, 2 * inset + 1))
    known = np.asarray(cv2.erode(opening.mask(), disc), np.uint8) > 127
    if np.count_nonzero(known) < _SMALLEST_OPENING:
        return None
    box = _around(known, mouth_box, int(_CONTINUED * unit) + 2, face.image)
    top, left = box.top - mouth_box.top, box.left - mouth_box.left
    known = known[top : top + box.height, left : left + box.width]
    # Nothing but the known part is left to continue from: lips would tint the teeth.
    source = np.ascontiguousarray(face.image[box.top : box.bottom, box.left : box.right])
    picture = np.asarray(cv2.inpaint(source, (~known).astype(np.uint8), 3, cv2.INPAINT_TELEA), np.uint8)
    lower = opening.lower - box.origin
    along = (lower[-1] - lower[0]) / np.linalg.norm(lower[-1] - lower[0])
    up = np.array([along[1], -along[0]]) * 2 * unit
    above = polygon_mask(np.concatenate([lower, [lower[-1] + up, lower[0] + up]]), box.height, box.width)
    above = np.asarray(cv2.erode(above, np.ones((3, 3), np.uint8), iterations=inset), np.uint8)
    beside = _beside(known, along) / unit
    alpha = (255 * (1 - smoothstep(0.0, _DARK_CORNER, beside))).astype(np.uint8)
    above = np.minimum(soften(above, max(0.7, 0.008 * unit)), alpha)
    return _OwnInterior(np.dstack([picture, alpha]), above, box.origin)


def _around(known: NDArray[np.bool_], box: Box, room: int, image: NDArray[np.uint8]) -> Box:
    """The part of `box` within `room` px of the pixels `known` in it, inside the image."""
    rows, columns = np.flatnonzero(known.any(axis=1)), np.flatnonzero(known.any(axis=0))
    return Box(
        left=max(box.left + int(columns[0]) - room, box.left, 0),
        top=max(box.top + int(rows[0]) - room, box.top, 0),
        right=min(box.left + int(columns[-1]) + 1 + room, box.right, image.shape[1]),
        bottom=min(box.top + int(rows[-1]) + 1 + room, box.bottom, image.shape[0]),
    )


def _beside(known: NDArray[np.bool_], along: NDArray[np.floating]) -> NDArray[np.floating]:
    """How far every pixel lies left or right of the pixels `known`, measured along the mouth, px."""
    y, x = np.mgrid[0 : known.shape[0], 0 : known.shape[1]]
    position = x * along[0] + y * along[1]
    inside = position[known]
    return np.maximum(np.maximum(inside.min() - position, position - inside.max()), 0.0)
