"""When lids blink, told from the height of the eye slits."""

import numpy as np
from numpy.typing import NDArray

CLOSED = 0.5  # of the usual opening: real blinks go down to 0.04 to 0.21 of it, squints stay above
LONGEST = 0.6  # seconds; eyes shut for longer are not blinking


def blink_stretches(
    lids: NDArray[np.floating], around: NDArray[np.floating], fps: float
) -> NDArray[np.int64]:
    """First and last frame, the latter not included, of every blink; int64 [k, 2].

    A blink is a stretch of at most 0.6 s in which the opening is less than half of its median around.

    Args:
        lids: Height of the eye slits, [T], any unit.
        around: The same with what comes before and after, [T + 2 m]: the median is over 2 m + 1 frames.
        fps: Frames a second.
    """
    usual = np.median(np.lib.stride_tricks.sliding_window_view(around, len(around) - len(lids) + 1), axis=1)
    shut = np.concatenate([[False], lids < CLOSED * usual, [False]]).astype(np.int8)
    edges = np.flatnonzero(np.diff(shut)).reshape(-1, 2)
    return edges[edges[:, 1] - edges[:, 0] <= LONGEST * fps]
