"""Brightness that trembles from frame to frame where nothing moves."""

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.latents import POSE

Floats = NDArray[np.floating]

_LUMA = np.array([0.2126, 0.7152, 0.0722])  # BT.709
_ANGLES = slice(0, POSE.index("roll") + 1)


def flicker(skin: Floats, pose: Floats) -> float:
    """Deviation of the skin's luma from frame to frame, in levels of 255, while the head is still.

    The root mean square of the second differences x[t-1] - 2 x[t] + x[t+1] over the square root of 6: for
    white noise its standard deviation, for slow changes of light next to nothing. Only the calmer half of the
    frames counts, by the speed of the head.

    Args:
        skin: Mean RGB of the skin, float [T, 3], 0..255.
        pose: `latents.POSE`, float [T, 6].
    """
    second = np.diff(skin @ _LUMA, n=2)
    speed = np.linalg.norm(np.diff(pose[:, _ANGLES], axis=0), axis=1)
    around = np.maximum(speed[:-1], speed[1:])  # the two steps that a second difference spans
    calm = around <= np.median(around)
    return float(np.sqrt(np.mean(second[calm] ** 2) / 6))
