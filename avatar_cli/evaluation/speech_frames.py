"""Which frames of a video are spoken in, told by the level of the sound."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

# A frame is spoken in when its level in dB lies this share of the way from the quiet frames to the loud ones,
# and not far below the loud ones: above the noise of rooms, below unvoiced consonants. Checked against word
# times of the GRID corpus.
QUIET_QUANTILE, LOUD_QUANTILE = 0.05, 0.95
SHARE_ABOVE_QUIET = 0.4
BELOW_LOUD_DB = 30.0
SILENCE_DB = -70.0
# Closures of plosives are silent: gaps up to this long belong to the speech around them.
LONGEST_CLOSURE = 0.24  # seconds


def speech_mask(samples: Floats, rate: int, fps: Fraction, frames: int) -> NDArray[np.bool_]:
    """Where there is speech, bool [frames], from mono samples [S] at `rate` Hz; nowhere past their end."""
    edges = [round(frame * rate / fps) for frame in range(frames + 1)]
    padded = np.pad(samples, (0, max(0, edges[-1] - len(samples))))
    power = [float(np.mean(padded[a:b] ** 2)) for a, b in pairwise(edges)]
    level = 10 * np.log10(np.array(power) + 1e-12)
    quiet, loud = np.quantile(level, [QUIET_QUANTILE, LOUD_QUANTILE])
    threshold = max(quiet + SHARE_ABOVE_QUIET * (loud - quiet), loud - BELOW_LOUD_DB, SILENCE_DB)
    return _fill_gaps(level > threshold, round(LONGEST_CLOSURE * fps))


def _fill_gaps(mask: NDArray[np.bool_], longest: int) -> NDArray[np.bool_]:
    filled = mask.copy()
    for before, after in pairwise(np.flatnonzero(mask)):
        if after - before - 1 <= longest:
            filled[before:after] = True
    return filled
