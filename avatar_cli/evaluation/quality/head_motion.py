"""How far, and how fast, a head moves."""

import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.tracks import TRACK_FPS

Floats = NDArray[np.floating]
Doubles = NDArray[np.float64]

# Octaves, Hz. Above 4 Hz heads hardly move: there the tracker's own noise is most of what is seen.
BANDS = ((0.1, 0.5), (0.5, 1.0), (1.0, 2.0), (2.0, 4.0), (4.0, 8.0))
BANDS_OF_MOTION = 4  # of these, from the first
_SEGMENT = 250  # frames of one spectrum: 10 s


def rotation_deviation(angles: Floats) -> Doubles:
    """Standard deviation of yaw, pitch and roll, float [T, 3] in degrees to float64 [3] in degrees."""
    return np.asarray(angles.std(axis=0), np.float64)


def band_rms(angles: Floats) -> Doubles:
    """Root mean square of the motion in each of `BANDS`.

    Welch's method (1967): power spectral densities of half-overlapping segments of 10 s with a linear trend
    taken out and a Hann window, averaged; the square root of their integral over each band.

    Args:
        angles: float [T, C] at 25 frames/s.

    Returns:
        float64 [5, C], in the unit of `angles`.
    """
    fps = float(TRACK_FPS)
    length = min(_SEGMENT, len(angles))
    starts = range(0, len(angles) - length + 1, max(1, length // 2))
    window = np.hanning(length)[:, None]
    segments = [_without_trend(angles[start : start + length]) * window for start in starts]
    power = np.mean([np.abs(np.fft.rfft(segment, axis=0)) ** 2 for segment in segments], axis=0)
    density = 2 * power / (fps * (window**2).sum())
    frequencies = np.fft.rfftfreq(length, 1 / fps)
    step = fps / length
    bands = [density[(frequencies >= low) & (frequencies < high)].sum(axis=0) * step for low, high in BANDS]
    return np.sqrt(np.stack(bands))


def difference_db(rendered: Doubles, real: Doubles) -> Doubles:
    """Level of rendered against real motion in each of `BANDS`, all angles together, float64 [5], dB.

    Args:
        rendered: `band_rms` of the rendered head, float64 [5, 3].
        real: That of a real one.
    """
    powers = [(rms**2).sum(axis=1) + 1e-12 for rms in (rendered, real)]
    return np.asarray(10 * np.log10(powers[0] / powers[1]))


def pooled_rms(parts: list[Doubles], frames: list[int]) -> Doubles:
    """`band_rms` of several recordings as if they were one: their mean squares weighted by length, [5, C]."""
    weights = np.array(frames) / sum(frames)
    return np.sqrt(np.tensordot(weights, np.stack(parts) ** 2, axes=1))


def _without_trend(curves: Floats) -> Doubles:
    """Curves [T, C] without their least-squares line."""
    time = np.linspace(-1, 1, len(curves))
    design = np.stack([np.ones_like(time), time], axis=1)
    fitted, *_ = np.linalg.lstsq(design, curves.astype(np.float64), rcond=None)
    return np.asarray(curves - design @ fitted)
