"""Finds the bars of one colour that frame a photo of another shape than the video."""

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box

_UNEVEN = 2  # px by which opposite bars may differ


def picture_between_bars(canvas: NDArray[np.uint8]) -> Box:
    """The part of `canvas` [H, W, 3] between its bars; the whole canvas where it has none.

    A photo is centred between bars of exactly one colour. A plain backdrop that is wider on one side is none.
    """
    rows, columns = canvas.shape[:2]
    same = (canvas == canvas[0, 0]).all(axis=2)
    left, right = _pair_of_bars(same.all(axis=0))
    top, bottom = _pair_of_bars(same.all(axis=1))
    return Box(left, top, columns - right, rows - bottom)


def _pair_of_bars(is_plain: NDArray[np.bool_]) -> tuple[int, int]:
    if is_plain.all():
        return 0, 0
    first = int(np.argmin(is_plain))
    last = int(np.argmin(is_plain[::-1]))
    if abs(first - last) > _UNEVEN:
        return 0, 0
    return first, last
