"""How large a picture is loaded, and bringing it there without a second copy of all its pixels."""

import math
from collections.abc import Callable, Iterator

from PIL import Image

Size = tuple[int, int]  # width, height

# A face that fills a part of the picture is enlarged, up to this many times, without losing sharpness.
ROOM = 2
# What a small video takes too: faces are found and measured on these pixels.
LEAST_SIDE = 1440
_BAND_PIXELS = 1 << 20
_SUPPORT = 1  # of the Hamming filter, in pixels of the smaller picture


def loading_size(picture: Size, enough: Size | None) -> Size:
    """The size to load a picture at: its own, or the smallest of its shape with room for `enough`.

    Both sides keep at least ROOM times those of `enough`, and LEAST_SIDE.

    Args:
        picture: Its size, pixels.
        enough: Size of the video, pixels, the picture's way round; None keeps every pixel.
    """
    if enough is None:
        return picture
    width, height = picture
    least_width, least_height = (max(ROOM * side, LEAST_SIDE) for side in enough)
    if width <= least_width or height <= least_height:
        return picture
    if width * least_height <= height * least_width:
        return least_width, round(height * least_width / width)
    return round(width * least_height / height), least_height


def bands(
    image: Image.Image, size: Size, prepare: Callable[[Image.Image], Image.Image]
) -> Iterator[tuple[slice, Image.Image]]:
    """Pieces of an image, from top to bottom, prepared and brought to `size`, with the rows they make of it.

    A piece is prepared before it is resized, so that the prepared whole, which may take more bytes a pixel,
    never exists. The pieces are those of the resized whole, without seams.

    Args:
        image: A decoded image, no smaller than `size`.
        size: Width and height to bring it to.
        prepare: Gives a piece of the same size in a mode whose values may be averaged.
    """
    shrink = image.height / size[1]
    margin = math.ceil(_SUPPORT * shrink) + 1
    step = max(1, int(_BAND_PIXELS / (image.width * shrink)))
    for first in range(0, size[1], step):
        last = min(first + step, size[1])
        if size == image.size:
            yield slice(first, last), prepare(image.crop((0, first, image.width, last)))
            continue
        start, end = first * image.height / size[1], last * image.height / size[1]
        top = max(0, math.floor(start) - margin)
        bottom = min(image.height, math.ceil(end) + margin)
        piece = prepare(image.crop((0, top, image.width, bottom)))
        box = (0, start - top, image.width, end - top)
        yield slice(first, last), piece.resize((size[0], last - first), Image.Resampling.HAMMING, box)
