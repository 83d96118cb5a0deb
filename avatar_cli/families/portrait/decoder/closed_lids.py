"""Closed lids as a frame of a reference video shows them, laid over the lids of the photo."""

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.compositing import premultiplied
from avatar_cli.families.portrait.decoder.face_frame import FaceFrame
from avatar_cli.families.portrait.decoder.grid import FieldGrid
from avatar_cli.families.portrait.decoder.masks import Ellipse, Mask, blend, soften
from avatar_cli.families.portrait.decoder.matched_view import MatchedView
from avatar_cli.families.portrait.decoder.photo import RefinedImage
from avatar_cli.families.portrait.decoder.sampling import sample
from avatar_cli.families.portrait.decoder.spline import ThinPlateSpline, smoothstep
from avatar_cli.families.portrait.decoder.warped_head import WarpedHead
from avatar_cli.families.portrait.landmarks import Eye

_SMOOTHING = 1e-3
_HALF_WIDTH = 0.70  # eye widths
_ABOVE, _BELOW = 0.50, 0.36
_SOFT = 0.035  # e
_FADE = (0.45, 0.90)  # of a blink: before, the lid of the photo comes down
_GAINS = (0.6, 1.6)
_RISE_OF_LOWER_LID = 0.12  # of the opening


class ClosedLids:
    """One eye, closed, in the photo's place and light."""

    def __init__(self, face: FaceFrame, eye: Eye, view: MatchedView, head_grid: FieldGrid) -> None:
        """Bring the lids of `eye` from `view` to the photo, whose common field has the nodes `head_grid`."""
        points, unit = face.points, face.eye_distance
        upper, lower = points[list(eye.upper_lid)], points[list(eye.lower_lid)]
        corners = lower[-1] - lower[0]
        length = float(np.linalg.norm(corners))
        along = corners / length
        up = np.array([along[1], -along[0]])
        centre = (upper + lower).mean(axis=0) / 2 + (_ABOVE - _BELOW) / 2 * length * up
        degrees = float(np.degrees(np.arctan2(along[1], along[0])))
        ellipse = Ellipse(centre, (_HALF_WIDTH * length, (_ABOVE + _BELOW) / 2 * length), degrees)
        reach = max(ellipse.radii) + 4 * _SOFT * unit
        rows, columns = face.image.shape[:2]
        left, top = np.maximum(np.floor(centre - reach).astype(int), 0)
        right, bottom = np.minimum(np.ceil(centre + reach).astype(int), [columns, rows])
        box = Box(int(left), int(top), int(right), int(bottom))
        picture = _brought(box, eye, points, view, lower + _RISE_OF_LOWER_LID * (upper - lower))
        mask = ellipse.moved(-box.origin).mask(box.height, box.width)
        own = face.image[box.inside]
        picture = _lit_as(picture, own, mask)
        self._cover = soften(mask, max(1.0, _SOFT * unit))
        self._density = head_grid.density
        self._origin = box.origin * self._density
        self._patch = RefinedImage(picture, self._density)
        self._corners = np.array([(x, y) for x in (left, right) for y in (top, bottom)], np.float64)
        self._at = head_grid.index_of(self._corners)[None]

    def draw(self, head: WarpedHead, blink: float) -> None:
        """Draw over the eye of `head`, as far as the lids are closed, 0..1."""
        strength = float(smoothstep(*_FADE, blink))
        if strength == 0.0:
            return
        inside = self._region(head)
        source = head.source[inside] - self._origin
        region = head.picture[inside]
        picture = self._patch.draw(source)
        if head.photo.is_cutout:
            picture = premultiplied(picture[..., :3].copy(), region[..., 3].copy())
        cover = sample(self._cover, source * np.float32(1 / self._density), cv2.BORDER_CONSTANT)
        region[...] = blend(region, picture, (cover * np.float32(strength)).astype(np.uint8))

    def _region(self, head: WarpedHead) -> tuple[slice, slice]:
        """Rows and columns of the head's picture that show the patch."""
        moved = self._corners + sample(head.displacement, self._at)[0] - head.box.origin
        size = [head.box.width, head.box.height]
        left, top = np.clip(np.floor(moved.min(axis=0)).astype(int), 0, size)
        right, bottom = np.clip(np.ceil(moved.max(axis=0)).astype(int), 0, size)
        return slice(int(top), int(bottom)), slice(int(left), int(right))


def _brought(
    box: Box, eye: Eye, points: NDArray[np.float64], view: MatchedView, closed: NDArray[np.float64]
) -> NDArray[np.uint8]:
    """Colours [h, w, 3] of `view` at the photo's pixels in `box`; lids meet on the line `closed` [9, 2]."""
    around = list(eye.brow + eye.under_lid)
    lids = (view.points[list(eye.upper_lid)] + view.points[list(eye.lower_lid)]) / 2
    nodes = np.concatenate([points[around], closed])
    values = np.concatenate([view.points[around], lids])
    y, x = np.mgrid[box.top : box.bottom : 4, box.left : box.right : 4]
    queries = np.stack([x, y], axis=-1).reshape(-1, 2).astype(np.float64)
    coarse = ThinPlateSpline(nodes, _SMOOTHING).evaluate(values, queries).reshape(*x.shape, 2)
    fine = np.mgrid[0 : box.height, 0 : box.width][::-1].transpose(1, 2, 0).astype(np.float32) / 4
    return sample(view.image, sample(coarse, fine))


def _lit_as(picture: NDArray[np.uint8], own: NDArray[np.uint8], mask: Mask) -> NDArray[np.uint8]:
    """`picture` [h, w, 3] with the mean colour of `own` around the eye."""
    around = (np.asarray(cv2.dilate(mask, np.ones((9, 9), np.uint8)), np.uint8) > 0) & (mask == 0)
    gain = (own[around].mean(axis=0) + 1) / (picture[around].mean(axis=0) + 1)
    return np.clip(np.round(picture * np.clip(gain, *_GAINS)), 0, 255).astype(np.uint8)
