"""Pictures in: what a picture file is, and its pixels upright on a background."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageColor, ImageOps, UnidentifiedImageError

from avatar_cli.media.input_path import check_is_file
from avatar_cli.protocol.errors import InputError, UsageError

Rgb: TypeAlias = tuple[int, int, int]

ACCEPTED = ("JPEG", "PNG")
MOST_PIXELS = 80_000_000  # below the size at which Pillow itself suspects a decompression bomb
_ORIENTATION_TAG = 0x0112
_LYING_ORIENTATIONS = (5, 6, 7, 8)


@dataclass(frozen=True)
class ImageInfo:
    """Size of a picture in pixels, upright."""

    width: int
    height: int


@dataclass(frozen=True)
class Photo:
    """A picture in memory.

    Attributes:
        path: The file it comes from, for sentences about it.
        pixels: uint8 [H, W, 3], RGB, upright.
        opacity: uint8 [H, W], 255 where the picture hides what is behind it; None where it does everywhere.
    """

    path: Path
    pixels: npt.NDArray[np.uint8]
    opacity: npt.NDArray[np.uint8] | None


def probe_image(path: Path) -> ImageInfo:
    """Size of a picture after its EXIF orientation, having made sure that the file is whole.

    The file is decoded, JPEG at an eighth of its size.

    Raises:
        InputError: not a picture of an accepted format, damaged, or larger than MOST_PIXELS.
    """
    with _opened(path) as image:
        width, height = image.size
        lying = image.getexif().get(_ORIENTATION_TAG) in _LYING_ORIENTATIONS
        image.draft(None, (width // 8 or 1, height // 8 or 1))  # has an effect on JPEG only
        image.load()
    return ImageInfo(height, width) if lying else ImageInfo(width, height)


def load_photo(path: Path) -> Photo:
    """The picture of `path`, whose format is told by content.

    Raises:
        InputError: as `probe_image`.
    """
    with _opened(path) as image:
        upright = ImageOps.exif_transpose(image)
        if upright.mode.startswith("I"):  # 16-bit gray, which Pillow would clip at 255 instead of scaling
            gray = np.asarray(upright).astype(np.uint32) >> 8
            upright = Image.fromarray(gray.astype(np.uint8))
        if not upright.has_transparency_data:
            return Photo(path, np.array(upright.convert("RGB")), None)
        cut_out = np.array(upright.convert("RGBA"))
        opacity = np.ascontiguousarray(cut_out[..., 3])
        return Photo(path, np.ascontiguousarray(cut_out[..., :3]), None if opacity.min() == 255 else opacity)


def parse_colour(text: str) -> Rgb:
    """A colour as `green`, `#00ff00` or `rgb(0, 255, 0)`. Raises UsageError for anything else."""
    try:
        colour = ImageColor.getrgb(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is not a colour: write a name such as white, or #rrggbb.") from error
    if len(colour) != 3:
        raise UsageError(f"{text!r} is a colour with transparency: write it as #rrggbb.")
    return colour


@contextmanager
def _opened(path: Path) -> Iterator[Image.Image]:
    with warnings.catch_warnings(), _open(path) as image:
        warnings.simplefilter("ignore")  # Pillow's remarks on odd metadata
        if image.format not in ACCEPTED:
            raise InputError(
                f"{path} is a {image.format} picture, which avatar does not read: save it as JPEG or PNG."
            )
        if image.width * image.height > MOST_PIXELS:
            raise _too_large(path)
        try:
            yield image
        except (OSError, SyntaxError, ValueError) as error:
            raise _damaged(path, error) from error


def _open(path: Path) -> Image.Image:
    try:
        check_is_file(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Image.open(path)
    except Image.DecompressionBombError as error:
        raise _too_large(path) from error
    except UnidentifiedImageError as error:
        raise InputError(_unidentified(path)) from error
    except (OSError, ValueError) as error:
        if not isinstance(error, OSError) or error.errno is None:  # Pillow's word for a broken header
            raise _damaged(path, error) from error
        raise InputError(f"{path} cannot be read ({error.strerror}): check the name.") from error


def _damaged(path: Path, error: Exception) -> InputError:
    return InputError(f"{path} is damaged ({error}): save or download it again.")


def _too_large(path: Path) -> InputError:
    return InputError(f"{path} has over {MOST_PIXELS // 1_000_000} million pixels: make it smaller first.")


def _unidentified(path: Path) -> str:
    if path.stat().st_size == 0:
        return f"{path} is empty: give a JPEG or PNG picture."
    return f"{path} is not a picture that avatar can read: give a JPEG or PNG file."
