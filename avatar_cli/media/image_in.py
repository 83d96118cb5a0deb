"""Pictures in: what a picture file is, and its pixels, upright, in sRGB."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from avatar_cli.media.eight_bits import eight_bits, split_alpha, white_of
from avatar_cli.media.loading_size import bands, loading_size
from avatar_cli.media.orientation import is_lying, orientation_of, upright
from avatar_cli.media.picture_file import decode, open_picture
from avatar_cli.media.srgb import ProfileError, plain_conversion, srgb_conversion

_JPEG = ("JPEG", "MPO")


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
        pixels: uint8 [H, W, 3], sRGB, upright.
        opacity: uint8 [H, W], 255 where the picture hides what is behind it; None where it does everywhere.
    """

    path: Path
    pixels: npt.NDArray[np.uint8]
    opacity: npt.NDArray[np.uint8] | None


def probe_image(path: Path) -> ImageInfo:
    """Size of a picture after its EXIF orientation, having made sure that the file is whole.

    The file is decoded, JPEG at an eighth of its size.

    Raises:
        InputError: Not a still picture, damaged, or larger than MOST_PIXELS.
    """
    with open_picture(path) as image:
        width, height = image.size
        image.draft(None, (width // 8 or 1, height // 8 or 1))  # has an effect on JPEG only
        decode(path, image)
        lying = is_lying(orientation_of(image))
    return ImageInfo(height, width) if lying else ImageInfo(width, height)


def load_photo(path: Path, enough: tuple[int, int] | None = None) -> Photo:
    """The first picture of `path`, whose format is told by content.

    Colours are brought to sRGB where the file has an ICC profile that can be used; PNG's own gamma and
    chromaticities are not read. A picture much larger than `enough` is made smaller while it is loaded.

    Args:
        path: The file.
        enough: Width and height of the video; None keeps every pixel.

    Raises:
        InputError: As `probe_image`.
    """
    with open_picture(path) as image:
        if enough and image.format in _JPEG:  # which can be decoded at a half, quarter or eighth of its size
            lying = is_lying(orientation_of(image))
            image.draft(None, loading_size(image.size, enough[::-1] if lying else enough))
        decode(path, image)
        orientation = orientation_of(image)
        if enough and is_lying(orientation):
            enough = enough[::-1]
        width, height = loading_size(image.size, enough)
        try:
            to_srgb = srgb_conversion(image)
        except ProfileError:  # picture_remarks tells the user
            to_srgb = plain_conversion
        white = white_of(image)
        pixels = np.empty((height, width, 3), np.uint8)
        opacity = np.full((height, width), 255, np.uint8)
        for rows, band in bands(image, (width, height), partial(eight_bits, white=white)):
            colour, alpha = split_alpha(band)
            pixels[rows] = np.asarray(to_srgb(colour))
            if alpha is not None:
                opacity[rows] = np.asarray(alpha)
    opaque = opacity.min() == 255
    return Photo(path, upright(pixels, orientation), None if opaque else upright(opacity, orientation))
