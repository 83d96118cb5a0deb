"""Limits of the head motion that one warped photo can show."""

import math

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.decoder.spline import smoothstep

# One sheet of skin has no far side: beyond these relative angles the cheek and the ear stretch visibly.
_MAX_TURN = math.radians(11.0)
_MAX_ROLL = math.radians(8.0)
_MAX_SHIFT = 0.30  # e
_MAX_LOG_SCALE = 0.10
# A head already turned hides its own outline: from the first angle on it may turn less, from the second on
# it may only nod a little.
_TURNED_LITTLE = math.radians(12.0)
TURNED = math.radians(25.0)
_MAX_TURN_OF_TURNED = math.radians(3.5)
_MAX_ROLL_OF_TURNED = math.radians(5.0)
_KNEE = 0.6


def limit_head_motion(motion: NDArray[np.floating], photo_yaw: float) -> NDArray[np.float64]:
    """The motion [6] of `latents.POSE` softly bent to what can be shown for a photo turned by `photo_yaw`."""
    turned = float(smoothstep(_TURNED_LITTLE, TURNED, abs(photo_yaw)))
    turn = _MAX_TURN + turned * (_MAX_TURN_OF_TURNED - _MAX_TURN)
    roll = _MAX_ROLL + turned * (_MAX_ROLL_OF_TURNED - _MAX_ROLL)
    limits = (turn, turn, roll, _MAX_SHIFT, _MAX_SHIFT, _MAX_LOG_SCALE)
    return np.array([soft_limit(float(value), limit) for value, limit in zip(motion, limits, strict=True)])


def soft_limit(value: float, limit: float) -> float:
    """`value` up to 0.6 of `limit`, then bent smoothly so that `limit` is never passed."""
    knee = _KNEE * limit
    excess = abs(value) - knee
    if excess <= 0:
        return value
    room = limit - knee
    return math.copysign(knee + room * math.tanh(excess / room), value)


def without_tremor(value: float, still: float) -> float:
    """`value` brought nearer to zero by `still`: small ones become exactly 0, and nothing jumps."""
    return math.copysign(max(abs(value) - still, 0.0), value)
