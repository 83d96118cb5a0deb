"""Agreement of two curves over time, allowing for a small lag."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Mask = NDArray[np.bool_]

LARGEST_LAG = 2  # frames, 80 ms at 25 frames/s: what viewers tolerate
FEWEST_FRAMES = 12


@dataclass(frozen=True)
class Match:
    """Pearson correlation at a lag; a positive lag says that the first curve is late by that many frames."""

    correlation: float
    lag: int


def correlation(first: Floats, second: Floats, mask: Mask, lag: int = 0) -> float:
    """Pearson correlation of first[t + lag] with second[t] over the frames t of the mask.

    Args:
        first: [T1], any unit.
        second: [T2], any unit.
        mask: bool [T2], frames of `second` that count.
        lag: Frames by which `first` is taken later.

    Returns:
        -1..1; 0 where one curve does not move at all.

    Raises:
        ValueError: fewer than 12 frames are left.
    """
    times = np.flatnonzero(mask[: len(second)])
    times = times[(times + lag >= 0) & (times + lag < len(first))]
    if len(times) < FEWEST_FRAMES:
        raise ValueError(f"only {len(times)} frames to correlate, of {FEWEST_FRAMES} at least")
    x = first[times + lag] - first[times + lag].mean()
    y = second[times] - second[times].mean()
    power = float(np.sqrt((x * x).sum() * (y * y).sum()))
    return float((x * y).sum()) / power if power > 0 else 0.0


def best_match(first: Floats, second: Floats, mask: Mask, largest_lag: int = LARGEST_LAG) -> Match:
    """The highest `correlation` over all lags of at most `largest_lag` frames either way."""
    lags = range(-largest_lag, largest_lag + 1)
    matches = [Match(correlation(first, second, mask, lag), lag) for lag in lags]
    return max(matches, key=lambda match: match.correlation)
