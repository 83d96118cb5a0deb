"""Blinks, told from the height of the eye slits."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.tracks import TRACK_FPS
from avatar_cli.families.portrait.blinking import blink_stretches

Floats = NDArray[np.floating]

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
    rate = float(TRACK_FPS)
    durations = np.diff(blink_stretches(lids, padded, rate))[:, 0] / rate
    return Blinks(tuple(durations.tolist()), len(lids) / rate / 60)
