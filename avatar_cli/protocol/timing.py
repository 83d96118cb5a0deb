"""Rational time: frames and samples share one clock, counted from zero and never accumulated."""

from fractions import Fraction

MODEL_RATE = 16_000  # Hz of the mono copy of a recording that audio encoders hear


def frame_edge(frame: int, rate: int, fps: Fraction) -> int:
    """Sample index at which frame `frame` begins: round(frame * rate / fps), ties away from zero.

    Frame k shows [k / fps, (k + 1) / fps), so its sound is samples [frame_edge(k), frame_edge(k + 1)).
    """
    numerator = frame * rate * fps.denominator
    return (2 * numerator + fps.numerator) // (2 * fps.numerator)


def frames_for(samples: int, rate: int, fps: Fraction) -> int:
    """Number of frames that hold `samples` samples: ceil(samples / rate * fps), so that no speech is lost."""
    return -(-samples * fps.numerator // (rate * fps.denominator))


def parse_fps(text: str) -> Fraction:
    """A frame rate as ffmpeg users write it: `25`, `23.976`, `30000/1001`.

    Decimal spellings of the NTSC rates become the exact ratios. Raises ValueError for anything that is
    not a positive number.
    """
    try:
        value = Fraction(text)
    except ZeroDivisionError:
        raise ValueError(f"a frame rate must be a number, not {text}") from None
    if value <= 0:
        raise ValueError(f"a frame rate must be positive, not {text}")
    nearest_ntsc = Fraction(max(1, round(value * 1001 / 1000)) * 1000, 1001)
    return nearest_ntsc if value.denominator != 1 and abs(value - nearest_ntsc) < Fraction(1, 200) else value
