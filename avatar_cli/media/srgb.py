"""Colours of a picture's ICC profile as sRGB, the colour space of the video."""

import io
from collections.abc import Callable

import numpy as np
from PIL import Image, ImageCms

from avatar_cli.media.eight_bits import GRAY

Conversion = Callable[[Image.Image], Image.Image]

_MODES = {"RGB": "RGB", "GRAY": "L", "CMYK": "CMYK"}  # of the colour spaces that profiles name
_SAME = 1  # levels by which colours may move and still be the same


class ProfileError(Exception):
    """A profile is damaged, or for pictures of another kind."""


def plain_conversion(image: Image.Image) -> Image.Image:
    """Gray, RGB or CMYK (mode L, RGB, CMYK) without a profile as RGB, in Pillow's way."""
    return image if image.mode == "RGB" else image.convert("RGB")


def srgb_conversion(image: Image.Image) -> Conversion:
    """What makes sRGB of pieces of `image` in mode L, RGB or CMYK, relative colorimetric.

    Raises:
        ProfileError: The image has a profile that cannot be used.
    """
    profile = image.info.get("icc_profile")
    if not profile or image.mode == "LAB":
        return plain_conversion
    taken, transform = _transform(profile, _colours(image))
    if taken == "CMYK" or _moves_colours(transform, taken):
        return lambda piece: transform.apply(piece if piece.mode == taken else piece.convert(taken))
    return plain_conversion


def _colours(image: Image.Image) -> str:
    if image.mode in GRAY:
        return "L"
    return "CMYK" if image.mode == "CMYK" else "RGB"


def _transform(profile: bytes, mode: str) -> tuple[str, ImageCms.ImageCmsTransform]:
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        taken = _MODES.get(source.profile.xcolor_space.strip(), "")
        # A gray picture with a profile for RGB is one whose three channels are equal.
        if taken != mode and (taken, mode) != ("RGB", "L"):
            raise ProfileError(f"it is for {source.profile.xcolor_space.strip()} pictures")
        target = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))
        transform = ImageCms.ImageCmsTransform(
            source,
            target,
            taken,
            "RGB",
            ImageCms.Intent.RELATIVE_COLORIMETRIC,
            flags=ImageCms.Flags.BLACKPOINTCOMPENSATION,
        )
    except (OSError, ValueError, ImageCms.PyCMSError) as error:
        raise ProfileError("it is damaged") from error
    return taken, transform


def _moves_colours(transform: ImageCms.ImageCmsTransform, mode: str) -> bool:
    """Whether it is worth applying: many a profile is sRGB under another name."""
    levels = np.arange(0, 256, 51 if mode == "RGB" else 5, dtype=np.uint8)
    grid = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(1, -1, 3)
    colours = Image.fromarray(grid if mode == "RGB" else levels[None])
    moved, same = (
        np.asarray(image, np.int16) for image in (transform.apply(colours), colours.convert("RGB"))
    )
    return bool(np.abs(moved - same).max() > _SAME)
