"""Curves over the sound as SVG, for the page."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]

WIDTH, HEIGHT = 1040, 110  # pixels of one plot
_LABELS = 56  # pixels at its left


@dataclass(frozen=True)
class Line:
    """One curve [T]; `kind` is the class that the page's style colours it by."""

    kind: str
    values: Floats


@dataclass(frozen=True)
class Plot:
    """Curves of the same unit over the same frames.

    Attributes:
        title: What they are, with the unit.
        lines: Drawn one over the other.
        marks: Frames to mark, with a letter each.
    """

    title: str
    lines: Sequence[Line]
    marks: Sequence[tuple[int, str]] = ()


def draw(plot: Plot, level: Floats | None, frames: range, fps: float) -> str:
    """SVG of some frames of a plot.

    Args:
        plot: All of its curves.
        level: Of the sound in dB, float [T], drawn behind the curves; None without sound.
        frames: What to draw; the scale is that of the whole curves.
        fps: Frames a second, for the time axis.
    """
    low, high = _limits(plot.lines)
    chosen = slice(frames.start, frames.stop)
    parts = [f'<text class="title" x="{_LABELS}" y="11">{plot.title}</text>']
    if level is not None:
        parts.append(_sound(level[chosen]))
    for value in (low, high):
        y = _height(np.array([value]), low, high)[0]
        parts.append(f'<text class="label" x="{_LABELS - 6}" y="{y + 3:.0f}">{value:.3g}</text>')
        parts.append(f'<line class="grid" x1="{_LABELS}" x2="{WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
    for second in range(math.ceil(frames.start / fps), math.ceil(frames.stop / fps)):
        x = _across(second * fps - frames.start, len(frames))
        parts.append(f'<text class="time" x="{x:.1f}" y="{HEIGHT}">{second}</text>')
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="16" y2="{HEIGHT - 14}"/>')
    for frame, letter in plot.marks:
        if frame in frames:
            x = _across(frame - frames.start, len(frames))
            parts.append(f'<text class="mark" x="{x:.1f}" y="24">{letter}</text>')
    for line in plot.lines:
        heights = _height(line.values[chosen], low, high)
        points = " ".join(f"{_across(step, len(frames)):.1f},{y:.1f}" for step, y in enumerate(heights))
        parts.append(f'<polyline class="{line.kind}" points="{points}"/>')
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">{"".join(parts)}</svg>'


def _limits(lines: Sequence[Line]) -> tuple[float, float]:
    values = np.concatenate([line.values for line in lines])
    low, high = np.quantile(values, [0.002, 0.998])
    return float(low), float(high) if high > low else float(low) + 1e-6


def _height(values: Floats, low: float, high: float) -> Floats:
    return np.clip((high - values) / (high - low), -0.1, 1.1) * (HEIGHT - 40) + 20


def _across(step: float, frames: int) -> float:
    return _LABELS + step / max(1, frames) * (WIDTH - _LABELS)


def _sound(level: Floats) -> str:
    """The level as a band around the middle, 0 at -60 dB."""
    middle = HEIGHT / 2
    half = np.clip((level + 60) / 60, 0, 1) * (HEIGHT - 40) / 2
    upper = [f"{_across(step, len(level)):.1f},{middle - size:.1f}" for step, size in enumerate(half)]
    lower = [f"{_across(step, len(level)):.1f},{middle + size:.1f}" for step, size in enumerate(half)]
    return f'<polygon class="sound" points="{" ".join([*upper, *lower[::-1]])}"/>'
