"""A rendered mouth against the real person's who said the same."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.correlation import best_match, correlation

Floats = NDArray[np.floating]
Mask = NDArray[np.bool_]

LOW, HIGH = 0.05, 0.95  # quantiles between which a curve's range is taken
_SMALLEST_RANGE = 1e-6  # of a real person, who may be a photo


@dataclass(frozen=True)
class Likeness:
    """One curve of the mouth.

    Attributes:
        best: Pearson correlation at the best lag of at most 2 frames (80 ms).
        lag: That lag, frames; positive where the rendered mouth is late.
        in_step: Correlation at lag 0.
        range_ratio: Range (p95 - p5) of the rendered curve over that of the real one.
    """

    best: float
    lag: int
    in_step: float
    range_ratio: float


def likeness(rendered: Floats, real: Floats, mask: Mask) -> Likeness:
    """Compares two curves [T] over the frames of `mask`. Raises ValueError: fewer than 12 frames count."""
    match = best_match(rendered, real, mask)
    in_step = correlation(rendered, real, mask)
    return Likeness(
        match.correlation,
        match.lag,
        in_step,
        extent(rendered[mask]) / max(extent(real[mask]), _SMALLEST_RANGE),
    )


def extent(curve: Floats) -> float:
    """Range of a curve without its extremes: 95th minus 5th percentile, in its own unit."""
    low, high = np.quantile(curve, [LOW, HIGH])
    return float(high - low)
