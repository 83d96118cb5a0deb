"""What has changed between the beginning and the end of a video."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.quality.curves import FaceCurves
from avatar_cli.evaluation.quality.likeness import extent

Doubles = NDArray[np.float64]

WINDOW = 1500  # frames: the first minute against the last
_SHARE = 3  # of shorter videos: the first third against the last


def ends(frames: int) -> tuple[slice, slice]:
    """Frames of the first and of the last minute, or third where the video is shorter than three minutes."""
    length = max(1, min(WINDOW, frames // _SHARE))
    return slice(0, length), slice(frames - length, frames)


def motion_drift(curves: FaceCurves) -> Doubles:
    """(mean of the last minute - mean of the first) / standard deviation, float64 [20].

    Channels are the nine distances of the mouth, the five measures of the upper face and the six of the pose.
    One that never moves has not drifted.
    """
    channels = np.concatenate([curves.mouth, curves.upper, curves.pose], axis=1).astype(np.float64)
    return change(channels) / np.maximum(channels.std(axis=0), 1e-9)


@dataclass(frozen=True)
class Spread:
    """How far curves move in the last minute over how far they do in the first: the channel farthest from 1.

    Attributes:
        deviation: Of standard deviations.
        range: Of ranges, p95 - p5.
    """

    deviation: float
    range: float


def spread_change(curves: NDArray[np.floating]) -> Spread:
    """Of curves [T, C]; channels that never move in either minute are left out."""
    first, last = (curves[span].astype(np.float64) for span in ends(len(curves)))
    moving = (np.ptp(first, axis=0) > 0) | (np.ptp(last, axis=0) > 0)
    deviations = [part[:, moving].std(axis=0) for part in (first, last)]
    ranges = [np.array([extent(curve) for curve in part[:, moving].T]) for part in (first, last)]
    return Spread(_farthest(*deviations), _farthest(*ranges))


def _farthest(first: Doubles, last: Doubles) -> float:
    ratios = (last + 1e-9) / (first + 1e-9)
    return float(ratios[np.abs(np.log(ratios)).argmax()]) if len(ratios) else 1.0


def change(values: NDArray[np.floating]) -> Doubles:
    """Mean of the last minute minus that of the first, of values [T, ...] sampled evenly over the video."""
    first, last = ends(len(values))
    return np.asarray(values[last].mean(axis=0) - values[first].mean(axis=0), np.float64)
