"""Whether the borders between chunks can be seen: jumps across them against the jumps inside."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]

INSIDE_QUANTILE = 0.95


@dataclass(frozen=True)
class SeamFigures:
    """Jumps across borders in units of the 95th percentile of those inside chunks, the mean over channels.

    Attributes:
        position: Median of |x[t] - x[t-1]| at borders.
        position_above: Share of borders above that percentile; 0.05 where borders are like any other frame.
        velocity: Median size of the second differences that reach across a border.
        velocity_above: Their share above the percentile.
        borders: How many there were.
    """

    position: float
    position_above: float
    velocity: float
    velocity_above: float
    borders: int


def chunk_borders(frames: int, chunk_frames: int, interpolated_frames: int) -> list[int]:
    """First frames of all chunks but the first; N chunks and I chunks of these lengths take turns."""
    borders = []
    start, lengths = 0, (chunk_frames, interpolated_frames)
    while start < frames:
        for length in lengths:
            start += length
            if length > 0 and start < frames:
                borders.append(start)
    return borders


def seam_figures(curves: Floats, borders: list[int]) -> SeamFigures:
    """Figures for curves [T, C] in any units, chunks beginning at `borders`; still channels are left out."""
    moving = curves[:, np.ptp(curves, axis=0) > 0]
    starts = np.array(borders)
    # Row r of the first differences is the step into frame r + 1. Two second differences contain the step to
    # a border: the change of velocity before it and the one after.
    steps = _relative_jumps(np.diff(moving, axis=0), starts - 1)
    bends = _relative_jumps(np.diff(moving, n=2, axis=0), np.concatenate([starts - 2, starts - 1]))
    return SeamFigures(
        position=float(np.median(steps, axis=0).mean()),
        position_above=float((steps > 1).mean()),
        velocity=float(np.median(bends, axis=0).mean()),
        velocity_above=float((bends > 1).mean()),
        borders=len(borders),
    )


@dataclass(frozen=True)
class JumpCourse:
    """Jumps before, at and after borders, in the unit of `SeamFigures`.

    Attributes:
        offsets: Frames from the border, int [K]: 0 is the step into the first frame of a chunk.
        median: Of all borders and channels, float [K].
        high: Their 95th percentile, float [K]: 1 where borders are like any other frame.
    """

    offsets: NDArray[np.int_]
    median: Floats
    high: Floats


def jump_course(curves: Floats, borders: list[int], order: int, reach: int) -> JumpCourse:
    """Of curves [T, C] within `reach` frames of borders: `order` 1 for steps, 2 for changes of velocity."""
    moving = curves[:, np.ptp(curves, axis=0) > 0]
    offsets = np.arange(-reach, reach + 1)
    near = [border for border in borders if reach + 2 <= border < len(curves) - reach]
    rows = np.array(near)[:, None] + offsets - order
    at_borders = np.concatenate([np.array(borders) - late for late in range(1, order + 1)])
    differences = np.diff(moving, n=order, axis=0)
    jumps = np.abs(differences[rows]) / _usual_size(differences, at_borders)
    at_offset = jumps.transpose(1, 0, 2).reshape(len(offsets), -1)
    return JumpCourse(offsets, np.median(at_offset, axis=1), np.quantile(at_offset, INSIDE_QUANTILE, axis=1))


def _relative_jumps(differences: Floats, rows: NDArray[np.int_]) -> Floats:
    """Size of these rows of differences [T', C] in units of that of all others, [R, C]."""
    rows = rows[rows < len(differences)]
    return np.asarray(np.abs(differences[rows]) / _usual_size(differences, rows))


def _usual_size(differences: Floats, but: NDArray[np.int_]) -> Floats:
    """95th percentile of the size of differences [T', C] but for some rows, [C]."""
    size = np.abs(differences)
    inside = np.ones(len(size), bool)
    inside[but[but < len(size)]] = False
    return np.asarray(np.quantile(size[inside], INSIDE_QUANTILE, axis=0))
