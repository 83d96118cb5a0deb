"""How a person moves while speaking, against what is usual."""

from dataclasses import astuple, dataclass, fields

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.latents import MOUTH
from avatar_cli.families.portrait.measures import measure_mouth

# What 0 means. Angles: root of the mean variance of yaw, pitch and roll.
USUAL_HEAD = 0.044  # radians, 2.5 degrees
USUAL_TEMPO = 0.6  # Hz, rms speed of the head's angles over their s.d., divided by 2 pi
USUAL_BLINKS = 20.0  # a minute
# Ranges (p95 - p5) of gap and width in speech, e, that the motion network was taught for a mouth as wide as
# that of the mean face.
USUAL_GAP_RANGE = 0.120
USUAL_WIDTH_RANGE = 0.049
# Bigger mouths move further; a smile widens a mouth too, and must not make it shout.
_SCALE_EXPONENT = 0.8
_SMALLEST_SCALE, _LARGEST_SCALE = 0.7, 1.4


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


def usual_mouth_scale(mesh: NDArray, shape: NDArray) -> float:
    """Factor on the usual ranges for a mesh [478, 3] beside the mean face `shape` [478, 3], both in e."""
    width = MOUTH.index("width")
    relative = measure_mouth(mesh)[width] / measure_mouth(shape)[width]
    return float(np.clip(relative**_SCALE_EXPONENT, _SMALLEST_SCALE, _LARGEST_SCALE))
