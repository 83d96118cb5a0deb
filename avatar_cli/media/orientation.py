"""Turns pictures upright, as their EXIF orientation tells (Exif 2.32, 4.6.4)."""

import numpy as np
import numpy.typing as npt
from PIL import Image

_TAG = 0x0112
_LYING = (5, 6, 7, 8)


def orientation_of(image: Image.Image) -> int:
    """1 to 8; 1, as in any viewer, where the file says nothing or its EXIF data are broken.

    PNG may tell it after the pixels and is decoded for it. Pillow turns TIFF upright itself when it decodes
    it, and swaps its size before: ask after decoding.
    """
    try:
        stated = image.getexif().get(_TAG)
    except Exception:  # the parser raises whatever it stumbles over
        return 1
    return stated if isinstance(stated, int) and 1 <= stated <= 8 else 1


def is_lying(orientation: int) -> bool:
    """Whether width and height change places."""
    return orientation in _LYING


def upright(pixels: npt.NDArray[np.uint8], orientation: int) -> npt.NDArray[np.uint8]:
    """The stored rows as they are to be seen, contiguous: [H, W, ...] or, lying, [W, H, ...]."""
    if orientation in _LYING:
        pixels = pixels.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    return np.ascontiguousarray(pixels)
