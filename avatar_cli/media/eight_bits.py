"""Pixels of any kind as eight bits a channel."""

import math

import numpy as np
from PIL import Image, ImageCms

GRAY = ("1", "L", "LA", "La", "I", "I;16", "I;16B", "I;16L", "I;16N", "F")
_SIXTEEN_BIT_WHITE = 65535.0
_WHITES = (1.0, 255.0, _SIXTEEN_BIT_WHITE)  # of the usual ways to write brightness


def white_of(image: Image.Image) -> float:
    """The value that is white in a gray image of more than eight bits; of no meaning for any other image.

    Files of 32-bit whole numbers and of floating-point numbers do not tell it: it is the smallest usual white
    that no pixel exceeds, or else the brightest pixel; 1 where one pixel is no number.
    """
    if image.mode not in ("I", "F"):
        return _SIXTEEN_BIT_WHITE
    brightest = float(np.max(image.getextrema()))
    if not math.isfinite(brightest):
        return _WHITES[0]
    whites = _WHITES if image.mode == "F" else _WHITES[1:]
    return next((white for white in whites if brightest <= white), brightest)


def eight_bits(image: Image.Image, white: float) -> Image.Image:
    """The image in mode L, LA, RGB, RGBA or CMYK, transparency as a channel of its own and not premultiplied.

    Args:
        image: Any mode; a palette, a transparent colour and premultiplied transparency are resolved.
        white: As of `white_of`, for gray of more than eight bits.
    """
    if image.mode.startswith(("I", "F")):
        return _scaled(image, white)
    if image.has_transparency_data:
        return image.convert("LA" if image.mode in GRAY else "RGBA")
    if image.mode == "LAB":  # not after resizing: its colour axes are signed
        lab, srgb = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
        return ImageCms.ImageCmsTransform(
            ImageCms.ImageCmsProfile(lab), ImageCms.ImageCmsProfile(srgb), "LAB", "RGB"
        ).apply(image)
    return image if image.mode in ("L", "RGB", "CMYK") else image.convert("RGB")


def split_alpha(image: Image.Image) -> tuple[Image.Image, Image.Image | None]:
    """Colour, and opacity as an image in mode L where there is any."""
    if image.mode == "RGBA":
        return image.convert("RGB"), image.getchannel("A")
    if image.mode == "LA":
        return image.getchannel("L"), image.getchannel("A")
    return image, None


def _scaled(image: Image.Image, white: float) -> Image.Image:
    values = np.asarray(image)
    shares = np.nan_to_num(values.astype(np.float32)) / np.float32(white)
    gray = Image.fromarray(np.rint(shares.clip(0, 1) * 255).astype(np.uint8))
    if "transparency" not in image.info:
        return gray
    opaque = values != image.info["transparency"]
    gray.putalpha(Image.fromarray(opaque.astype(np.uint8) * 255))
    return gray
