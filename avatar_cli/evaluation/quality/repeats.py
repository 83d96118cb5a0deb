"""Does motion come again? The best match of any few seconds of a video with any other."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.quality.curves import UPPER_MEASURES, FaceCurves
from avatar_cli.evaluation.tracks import TRACK_FPS

Floats = NDArray[np.floating]

EVERY = 5  # frames at 25 a second: heads move slower than the 2.5 Hz that these can show
FPS = float(TRACK_FPS) / EVERY
FEWEST_FRAMES = round(60 * FPS)  # of `motion_that_shows`: what is called a repeat needs time to come again
SECONDS = 4.0  # of motion that is looked for elsewhere: longer than a chunk
_GAZE_AND_BROWS = [UPPER_MEASURES.index(name) for name in ("gaze_x", "gaze_y", "brow_y")]
_SURROGATES = 3
_ROWS = 1024  # windows that are compared at once


def motion_that_shows(curves: FaceCurves, every: int = EVERY) -> NDArray[np.float32]:
    """Yaw, pitch, roll, gaze and brows of every fifth frame, float32 [T / 5, 6]; mouths repeat with words."""
    return np.concatenate([curves.angles, curves.upper[:, _GAZE_AND_BROWS]], axis=1)[::every]


@dataclass(frozen=True)
class Repeat:
    """The two windows that are most alike.

    Attributes:
        match: Their correlation, all channels together; 1 for the same motion.
        first: Frame at which the earlier one begins.
        second: That of the later one.
    """

    match: float
    first: int
    second: int


def best_repeat(curves: Floats, fps: float) -> Repeat:
    """Normalised correlation of every window of four seconds with every other that it does not overlap.

    Each channel counts from its mean in the window and in units of its standard deviation over the video,
    so that a repeat is found at another posture too.

    Args:
        curves: Motion [T, C], longer than two windows.
        fps: Frames a second.
    """
    length = round(SECONDS * fps)
    scaled = (curves / np.maximum(curves.std(axis=0), 1e-9)).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(scaled, length, axis=0)  # [W, C, length]
    centred = (windows - windows.mean(axis=2, keepdims=True)).reshape(len(windows), -1)
    units = centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-9)
    best = Repeat(-1.0, 0, 0)
    for start in range(0, len(units) - length, _ROWS):
        rows = units[start : start + _ROWS]
        matches = rows @ units[start + length :].T
        later = np.arange(matches.shape[1]) >= np.arange(len(rows))[:, None]  # no overlap with its row
        row, column = np.unravel_index(np.where(later, matches, -1).argmax(), matches.shape)
        if matches[row, column] > best.match:
            best = Repeat(float(matches[row, column]), start + int(row), start + length + int(column))
    return best


def chance_repeat(curves: Floats, fps: float) -> float:
    """The best match in motion of the same spectra that never repeats: mean over some of it.

    Surrogates by random phases (Theiler et al. 1992), the same for all channels so that what moves together
    still does (Prichard and Theiler 1994).
    """
    rng = np.random.default_rng(0)
    return float(np.mean([best_repeat(_surrogate(curves, rng), fps).match for _ in range(_SURROGATES)]))


def _surrogate(curves: Floats, rng: np.random.Generator) -> Floats:
    spectrum = np.fft.rfft(curves - curves.mean(axis=0), axis=0)
    turned = spectrum * np.exp(2j * np.pi * rng.random(len(spectrum)))[:, None]
    return np.fft.irfft(turned, len(curves), axis=0)
