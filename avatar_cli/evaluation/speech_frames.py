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
# Clicks and lip smacks are shorter than any word.
SHORTEST_SPEECH = 0.12  # seconds


def speech_mask(samples: Floats, rate: int, fps: Fraction, frames: int) -> NDArray[np.bool_]:
    """Where there is speech, bool [frames], from mono samples [S] at `rate` Hz; nowhere past their end."""
    edges = [round(frame * rate / fps) for frame in range(frames + 1)]
    padded = np.pad(samples, (0, max(0, edges[-1] - len(samples))))
    power = [float(np.mean(padded[a:b] ** 2)) for a, b in pairwise(edges)]
    level = 10 * np.log10(np.array(power) + 1e-12)
    quiet, loud = np.quantile(level, [QUIET_QUANTILE, LOUD_QUANTILE])
    threshold = max(quiet + SHARE_ABOVE_QUIET * (loud - quiet), loud - BELOW_LOUD_DB, SILENCE_DB)
    spoken = level > threshold
    _flip_runs(spoken, False, round(LONGEST_CLOSURE * fps))
    _flip_runs(spoken, True, round(SHORTEST_SPEECH * fps) - 1)
    return spoken


def _flip_runs(mask: NDArray[np.bool_], value: bool, longest: int) -> None:
    """Inverts, in place, runs of `value` of at most `longest` frames, but not those at either end."""
    edges = np.flatnonzero(np.diff(mask.astype(np.int8))) + 1
    for start, stop in pairwise(edges):
        if mask[start] == value and stop - start <= longest:
            mask[start:stop] = not value
