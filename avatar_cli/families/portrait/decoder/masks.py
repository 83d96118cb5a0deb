"""Anti-aliased 8-bit masks and the blend that leaves equal pixels untouched."""

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

_SUBPIXEL_BITS = 4
_SUBPIXEL = 1 << _SUBPIXEL_BITS
_SHARPEST = 0.3  # px: a smaller blur changes nothing
_WIDE = 2.0  # px

Mask = NDArray[np.uint8]


def polygon_mask(polygon: NDArray[np.floating], height: int, width: int, blur: float = 0.0) -> Mask:
    """255 inside `polygon` [N, 2] (px), with an edge softened by a Gaussian of sigma `blur` px."""
    mask = np.zeros((height, width), np.uint8)
    corners = np.round(polygon * _SUBPIXEL).astype(np.int32)
    cv2.fillPoly(mask, [corners], 255, cv2.LINE_AA, _SUBPIXEL_BITS)
    return soften(mask, blur)


@dataclass(frozen=True)
class Ellipse:
    """A filled ellipse: centre and half axes in px, turned by `degrees` (clockwise in the image)."""

    centre: NDArray[np.floating]
    radii: tuple[float, float]
    degrees: float

    def mask(self, height: int, width: int) -> Mask:
        """255 inside."""
        mask = np.zeros((height, width), np.uint8)
        x, y = np.round(np.asarray(self.centre) * _SUBPIXEL).astype(int)
        axes = (round(self.radii[0] * _SUBPIXEL), round(self.radii[1] * _SUBPIXEL))
        cv2.ellipse(mask, (int(x), int(y)), axes, self.degrees, 0, 360, 255, -1, cv2.LINE_AA, _SUBPIXEL_BITS)
        return mask

    def moved(self, offset: NDArray[np.floating]) -> "Ellipse":
        """The same ellipse elsewhere."""
        return Ellipse(self.centre + offset, self.radii, self.degrees)


def soften(mask: Mask, blur: float) -> Mask:
    """Blur of sigma `blur` px: Gaussian, or of the same width and much faster where it is wide."""
    if blur <= _SHARPEST:
        return mask
    if blur < _WIDE:
        return np.asarray(cv2.GaussianBlur(mask, (0, 0), blur), np.uint8)
    # A stack blur of radius r has the variance r (r + 2) / 6.
    radius = round(math.sqrt(6 * blur * blur + 1) - 1)
    return np.asarray(cv2.stackBlur(mask, (2 * radius + 1, 2 * radius + 1)), np.uint8)


def blend(below: NDArray[np.uint8], above: NDArray[np.uint8], mask: Mask) -> NDArray[np.uint8]:
    """`above` where `mask` is 255, `below` where it is 0; exact where both are equal.

    Images are uint8 [h, w, 4].
    """
    weight = mask.astype(np.float32) * np.float32(1 / 255)
    return np.asarray(cv2.blendLinear(below, above, 1 - weight, weight), np.uint8)
