"""How a person moves while speaking, against what is usual."""

from dataclasses import astuple, dataclass, fields

import numpy as np
from numpy.typing import NDArray

# What 0 means. Angles: root of the mean variance of yaw, pitch and roll.
USUAL_HEAD = 0.044  # radians, 2.5 degrees
USUAL_TEMPO = 0.6  # Hz, rms speed of the head's angles over their s.d., divided by 2 pi
USUAL_BLINKS = 20.0  # a minute


@dataclass(frozen=True)
class Habits:
    """Natural logarithms of ratios to the usual, each within -1 to 1; 0 is usual.

    Attributes:
        head: How far the head turns and nods.
        tempo: How quickly it does.
        blinks: How often the person blinks.
        mouth: How far the mouth opens in speech (p95 - p5), against others with as wide a mouth.
        width: How far the mouth spreads and purses (p95 - p5), against others with as wide a mouth.
    """

    head: float = 0.0
    tempo: float = 0.0
    blinks: float = 0.0
    mouth: float = 0.0
    width: float = 0.0

    def vector(self) -> NDArray[np.float32]:
        """float32 [5], in the order of the attributes."""
        return np.array(astuple(self), np.float32)


HABITS = tuple(field.name for field in fields(Habits))
USUAL = Habits()
