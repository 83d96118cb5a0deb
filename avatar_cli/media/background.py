"""The scene behind the person: a colour or a picture, at the size of the video."""

from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from PIL import ImageColor

from avatar_cli.media.image_in import load_photo, parse_colour, probe_image
from avatar_cli.protocol.errors import InputError

DEFAULT_BACKGROUND = "black"


def resolve_background(text: str | None) -> str:
    """A colour as it was written, or the absolute path of a picture; black where nothing was asked for.

    Raises:
        UsageError: it is neither a colour nor the name of a file.
        InputError: the picture cannot be used.
    """
    if text is None:
        return DEFAULT_BACKGROUND
    if not _is_colour(text) and Path(text).exists():
        probe_image(Path(text))
        return str(Path(text).absolute())
    parse_colour(text)
    return text


def load_background(resolved: str, width: int, height: int) -> npt.NDArray[np.uint8]:
    """The scene, uint8 [height, width, 3], RGB; a picture of another shape is cut around its centre.

    Raises:
        InputError: the picture cannot be used.
    """
    if _is_colour(resolved):
        return np.full((height, width, 3), parse_colour(resolved), np.uint8)
    photo = load_photo(Path(resolved))
    if photo.opacity is not None:
        raise InputError(f"{resolved} is transparent, so it cannot be a background: save it without alpha.")
    pixels = photo.pixels
    scale = max(width / pixels.shape[1], height / pixels.shape[0])
    size = (max(width, round(pixels.shape[1] * scale)), max(height, round(pixels.shape[0] * scale)))
    way = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    covering = cv2.resize(pixels, size, interpolation=way)
    left, top = (size[0] - width) // 2, (size[1] - height) // 2
    return np.ascontiguousarray(covering[top : top + height, left : left + width], np.uint8)


def _is_colour(text: str) -> bool:
    try:
        ImageColor.getrgb(text)
    except ValueError:
        return False
    return True
