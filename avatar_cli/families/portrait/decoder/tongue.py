"""A drawn tongue for mouths that open further than any picture of the person shows."""

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.decoder.spline import smoothstep
from avatar_cli.families.portrait.decoder.teeth import STANDARD_MOUTH, FrontPart

_HALF_WIDTH, _HALF_HEIGHT = 0.20, 0.105  # e
_ROOM = 1.25  # of them, for the soft edge
_EDGE = (0.70, 1.20)
_BACK, _TIP = 0.66, 1.06  # light on the back of the tongue and near its tip
_GROOVE, _GROOVE_WIDTH = 0.13, 0.09
_ROLL = 0.16  # darker where it bends down to the sides
_MOIST = 20.0  # levels
_DENSITY = 160.0  # texture px a e: it is soft all over


def tongue(colour: NDArray[np.floating], mouth_width: float) -> FrontPart:
    """A tongue that rests behind the lower teeth, its middle the part's edge; `mouth_width` in e.

    `colour` is RGB [3] of its lit top.
    """
    size = mouth_width / STANDARD_MOUTH
    half_width, half_height = size * _ROOM * _HALF_WIDTH, size * _ROOM * _HALF_HEIGHT
    columns, rows = round(2 * half_width * _DENSITY), round(2 * half_height * _DENSITY)
    across = _ROOM * np.linspace(-1, 1, columns)[None, :]
    down = _ROOM * np.linspace(-1, 1, rows)[:, None]
    light = _BACK + (_TIP - _BACK) * smoothstep(-0.9, 0.5, down)
    light = light * (1 - _GROOVE * np.exp(-((across / _GROOVE_WIDTH) ** 2)) * smoothstep(0.6, -0.2, down))
    light = light * (1 - _ROLL * across**2)
    moist = _MOIST * np.exp(-(((np.abs(across) - 0.35) / 0.28) ** 2) - ((down - 0.1) / 0.30) ** 2)
    texture = np.empty((rows, columns, 4), np.uint8)
    texture[..., :3] = np.clip(light[..., None] * colour + moist[..., None], 0, 255)
    texture[..., 3] = np.round(255 * (1 - smoothstep(*_EDGE, np.hypot(across, down))))
    return FrontPart(texture, _DENSITY, rows / 2)
