"""The scene behind the person: a colour or a picture, at the size of the video."""

import errno
import os
from pathlib import Path
from typing import TypeAlias

import cv2
import numpy as np
import numpy.typing as npt
from PIL import ImageColor

from avatar_cli.media.image_in import Photo, load_photo, probe_image
from avatar_cli.media.input_path import unreadable
from avatar_cli.protocol.errors import UsageError

Rgb: TypeAlias = tuple[int, int, int]

DEFAULT_BACKGROUND = "black"

_NO_SUCH_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


def resolve_background(text: str | None) -> str:
    """A colour as it was written, or the absolute path of a picture; black where nothing was asked for.

    A word that is a colour is one, also where a file has that name: `./red` is the file.

    Raises:
        UsageError: It is empty, or neither a colour nor the name of a file.
        InputError: The picture cannot be used, or a folder on the way to it not be searched.
    """
    if text is None:
        return DEFAULT_BACKGROUND
    if not text.strip():
        raise UsageError(
            "--background is empty: write a colour such as white or #rrggbb, or the name of a picture."
        )
    if not _is_colour(text) and _exists(text):
        probe_image(Path(text))
        return str(Path(text).absolute())
    parse_colour(text)
    return text


def load_background(resolved: str, width: int, height: int) -> npt.NDArray[np.uint8]:
    """The scene, uint8 [height, width, 3], sRGB.

    A picture of another shape is cut around its centre, and is on black where it is transparent.

    Raises:
        InputError: The picture cannot be used.
    """
    if _is_colour(resolved):
        return np.full((height, width, 3), parse_colour(resolved), np.uint8)
    photo = load_photo(Path(resolved), (width, height))
    part = _on_black(photo)[_centre(photo.pixels.shape[0], photo.pixels.shape[1], height / width)]
    shrinks = width < part.shape[1] or height < part.shape[0]
    scene = cv2.resize(part, (width, height), interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_CUBIC)
    return np.asarray(scene, np.uint8)


def background_file(resolved: str) -> Path | None:
    """The picture, where the scene is one and no colour."""
    return None if _is_colour(resolved) else Path(resolved)


def parse_colour(text: str) -> Rgb:
    """A colour as `green`, `#00ff00` or `rgb(0, 255, 0)`. Raises UsageError for anything else."""
    try:
        colour = ImageColor.getrgb(text)
    except ValueError as error:
        raise UsageError(
            f"--background {text} is neither a colour nor a file: "
            "write a colour such as white or #rrggbb, or check the picture's name."
        ) from error
    if len(colour) != 3:
        raise UsageError(f"--background {text} is a colour with transparency: write it as #rrggbb.")
    if max(colour) > 255:
        raise UsageError(f"--background {text} is no colour: its red, green and blue are 0 to 255.")
    return colour


def _exists(text: str) -> bool:
    try:
        os.stat(text)  # noqa: PTH116 - os.path.exists and Path's each say of some errors that nothing is there
    except ValueError:  # a zero byte, which no name has
        return False
    except OSError as error:
        if error.errno in _NO_SUCH_FILE:
            return False
        raise unreadable(text, error) from error
    return True


def _is_colour(text: str) -> bool:
    try:
        ImageColor.getrgb(text)
    except ValueError:
        return False
    return True


def _centre(height: int, width: int, shape: float) -> tuple[slice, slice]:
    """Rows and columns of the largest part around the centre whose height is `shape` times its width."""
    rows = min(height, max(1, round(width * shape)))
    columns = min(width, max(1, round(height / shape)))
    top, left = (height - rows) // 2, (width - columns) // 2
    return slice(top, top + rows), slice(left, left + columns)


def _on_black(photo: Photo) -> npt.NDArray[np.uint8]:
    if photo.opacity is None:
        return photo.pixels
    return np.rint(photo.pixels * (photo.opacity[..., None] / np.float32(255))).astype(np.uint8)
