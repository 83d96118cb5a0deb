"""The part of a picture around a face."""

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.face_mesh import pixels_between


def cut_around(
    image: NDArray[np.uint8], points: NDArray, around: float = 0.0
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """A view of the pixels around points, and the first of them.

    Args:
        image: uint8 [H, W, 3].
        points: [N, 2 or more], x and y in pixels.
        around: How far the part reaches beyond the points, as a share of their width and height.

    Returns:
        uint8 [h, w, 3], at least one pixel, and float32 [3]: x and y of its first pixel, and 0, to be taken
        from landmarks.
    """
    height, width = image.shape[:2]
    low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
    margin = around * (high - low)
    left, right = pixels_between(float(low[0] - margin[0]), float(high[0] + margin[0]), width)
    top, bottom = pixels_between(float(low[1] - margin[1]), float(high[1] + margin[1]), height)
    return image[top:bottom, left:right], np.array([left, top, 0], np.float32)
