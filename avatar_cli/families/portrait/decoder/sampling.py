"""The pixel operations of the decoder, with the types that OpenCV's own stubs leave open."""

from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
Value = TypeVar("Value", np.uint8, np.float32)


def sample(
    image: NDArray[Value],
    positions: NDArray[np.floating],
    border: int = cv2.BORDER_REPLICATE,
    into: NDArray[Value] | None = None,
) -> NDArray[Value]:
    """Bilinear values of `image` [H, W] or [H, W, C] at pixel positions [h, w, 2]; its border goes on.

    They are written `into` an array, if one is given.

    Four channels take less than half the time of three.
    """
    at = positions.astype(np.float32, copy=False)
    return cv2.remap(image, at, None, cv2.INTER_LINEAR, into, border)  # type: ignore[call-overload]


def sample_planes(
    image: NDArray[np.float32], x: NDArray[np.float32], y: NDArray[np.float32]
) -> NDArray[np.float32]:
    """As `sample`, at positions given as two planes [h, w]."""
    values = cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(values, np.float32)


def warp_affine(
    image: Pixels, transform: NDArray[np.floating], width: int, height: int, border: int = cv2.BORDER_CONSTANT
) -> Pixels:
    """`image` carried by `transform` [2, 3] (its pixels to those of the result) into [height, width, ...]."""
    return _pixels(
        cv2.warpAffine(image, transform, (width, height), flags=cv2.INTER_LINEAR, borderMode=border)
    )


def sample_grey(image: Pixels, positions: NDArray[np.floating], blur: float) -> NDArray[np.float32]:
    """Luma of `image` [H, W, 3], blurred by a Gaussian of sigma `blur` px, at pixel positions [h, w, 2].

    Only the part of the image around the positions is looked at; they may lie outside the image.
    """
    last = np.array([image.shape[1], image.shape[0]]) - 1
    margin = 4 + int(3 * blur)
    low = np.clip(np.floor(positions.min(axis=(0, 1))).astype(int) - margin, 0, last)
    high = np.clip(np.ceil(positions.max(axis=(0, 1))).astype(int) + margin, 0, last) + 1
    part = np.ascontiguousarray(image[low[1] : high[1], low[0] : high[0]])
    grey = cv2.cvtColor(part, cv2.COLOR_RGB2GRAY).astype(np.float32)
    return sample(np.asarray(cv2.GaussianBlur(grey, (0, 0), blur), np.float32), positions - low)


def _pixels(array: object) -> Pixels:
    return np.asarray(array, np.uint8)
