"""Plain skin for an upper lid that has too little of its own to come down with: below a rim of glasses."""

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.compositing import premultiplied
from avatar_cli.families.portrait.decoder.face_frame import FaceFrame
from avatar_cli.families.portrait.decoder.masks import blend, polygon_mask
from avatar_cli.families.portrait.decoder.sampling import sample
from avatar_cli.families.portrait.decoder.spline import smoothstep
from avatar_cli.families.portrait.decoder.warped_head import WarpedHead
from avatar_cli.families.portrait.landmarks import Eye

_LASHES = 0.024  # e above the lid's edge, kept from the photo
_STRETCHED = (1.8, 3.2)  # times: up to the first the photo's own skin does, from the second it is a smear
_MOST = 0.9  # more of the photo's grain would be seen as streaks
_FADE = (0.15, 0.6)  # of a blink
_SOFT = 0.012  # e
_STEPS = 12
_LIGHTER = 75  # percentile of the places between lid and brow: not lashes, creases and shadow


class LidSkin:
    """Skin in the colours seen above the lid, laid between a lid that comes down and what ends its skin."""

    def __init__(self, face: FaceFrame, eye: Eye, above: NDArray[np.float64]) -> None:
        """Take the colours between the upper lid of `eye` and the places `above` it [7, 2], px."""
        unit = face.eye_distance
        lid, lower = (face.points[list(ring[1:-1])] for ring in (eye.upper_lid, eye.lower_lid))
        skin = np.maximum(np.linalg.norm(above - lid, axis=1) - _LASHES * unit, 1.0)
        stretch = 1 + np.linalg.norm(lower - lid, axis=1) / skin
        self._weight = _MOST * face.glasses * float(smoothstep(*_STRETCHED, float(np.median(stretch))))
        share = np.linspace(0.35, 0.95, _STEPS)[:, None, None]
        seen = np.percentile(sample(face.image, lid + share * (above - lid)), _LIGHTER, axis=0)
        below = face.points[list(eye.under_lid)] + np.linspace(0.0, 0.5, _STEPS)[:, None, None] * (
            lower - lid
        )
        # The skin above may be all lashes and shadow.
        colours = (seen + np.median(sample(face.image, below), axis=0)) / 2
        bend = np.polynomial.polynomial.polyfit(np.arange(7.0), colours, 2)
        self._colours = np.clip(np.polynomial.polynomial.polyval(np.arange(7.0), bend).T, 0, 255)
        self._soft = max(0.8, _SOFT * unit)
        self._lashes = _LASHES * unit

    def draw(
        self, head: WarpedHead, lid: NDArray[np.float64], above: NDArray[np.float64], blink: float
    ) -> None:
        """Draw into `head` between the lid's edge `lid` [7, 2] and `above` [7, 2], canvas px."""
        weight = self._weight * float(smoothstep(*_FADE, blink))
        if weight == 0.0:
            return
        along = lid[-1] - lid[0]
        along /= np.linalg.norm(along)
        up = np.array([along[1], -along[0]])
        # Its soft edge must not reach the rim.
        outline = (
            np.concatenate([above - 2 * self._soft * up, (lid + self._lashes * up)[::-1]]) - head.box.origin
        )
        margin = 3 * int(np.ceil(self._soft))
        size = [head.box.width, head.box.height]
        left, top = np.clip(np.floor(outline.min(axis=0)).astype(int) - margin, 0, size)
        right, bottom = np.clip(np.ceil(outline.max(axis=0)).astype(int) + margin, 0, size)
        if left >= right or top >= bottom:
            return
        region = head.picture[top:bottom, left:right]
        mask = polygon_mask(outline - [left, top], bottom - top, right - left, self._soft)
        y, x = np.mgrid[top:bottom, left:right]
        at = (x + head.box.left) * along[0] + (y + head.box.top) * along[1]
        picture = np.empty_like(region)
        for channel in range(3):
            picture[..., channel] = np.interp(at, lid @ along, self._colours[:, channel])
        picture[..., 3] = 255
        if head.photo.is_cutout:
            picture = premultiplied(picture[..., :3].copy(), region[..., 3].copy())
        region[...] = blend(region, picture, (mask * np.float32(weight)).astype(np.uint8))
