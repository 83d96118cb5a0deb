"""Blinks, told from the height of the eye slits."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.tracks import TRACK_FPS

Floats = NDArray[np.floating]

CLOSED = 0.5  # of the usual opening: real blinks go down to 0.04 to 0.21 of it, squints stay above
LONGEST = 0.6  # seconds; eyes shut for longer are not blinking
_AROUND = 50  # frames either side whose median is the usual opening, since people look down for a while


@dataclass(frozen=True)
class Blinks:
    """Blinks of one recording.

    Attributes:
        durations: How long each was shut by more than half, seconds.
        minutes: Length of the recording.
    """

    durations: tuple[float, ...]
    minutes: float

    @property
    def per_minute(self) -> float:
        """Blinks a minute."""
        return len(self.durations) / self.minutes


def blinks(lids: Floats) -> Blinks:
    """Finds the blinks in the height of the eye slits, float [T] at 25 frames/s, any unit.

    A blink is a stretch of at most 0.6 s in which the opening is less than half of its median over the four
    seconds around; its duration is the width at half closure, as in the literature on spontaneous blinks.
    """
    padded = (
        np.pad(lids, _AROUND, mode="symmetric") if len(lids) > _AROUND else np.pad(lids, _AROUND, mode="wrap")
    )
    usual = np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * _AROUND + 1), axis=1)
    shut = lids < CLOSED * usual
    edges = np.flatnonzero(np.diff(np.concatenate([[False], shut, [False]]).astype(np.int8))).reshape(-1, 2)
    lengths = [int(stop - start) for start, stop in edges]
    durations = tuple(length / float(TRACK_FPS) for length in lengths if length <= LONGEST * TRACK_FPS)
    return Blinks(durations, len(lids) / float(TRACK_FPS) / 60)
