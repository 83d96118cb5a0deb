"""Tells whether glasses rest on the nose of a photo."""

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.decoder.sampling import sample_grey
from avatar_cli.families.portrait.decoder.spline import smoothstep

_INNER_EYE_CORNERS = (133, 362)
_REACH = 0.22  # e above and below the eyes' height
_HALF_WIDTH = 0.05  # e to either side of the nose's ridge
_ROWS = 89
_BACKGROUND_ROWS = 31
# A bare bridge differs from its surroundings by less than a tenth of its brightness, a rim by 0.15 to 0.35.
_BARE = 0.10
_RIM = 0.16


def glasses_on_bridge(image: NDArray[np.uint8], points: NDArray[np.float64], eye_distance: float) -> float:
    """0..1 for a bare nose bridge to one crossed by a bar that is darker or lighter than the skin.

    Args:
        image: uint8 [H, W, 3], RGB.
        points: [478, 2], px.
        eye_distance: px of 1 e.
    """
    left, right = points[_INNER_EYE_CORNERS[0]], points[_INNER_EYE_CORNERS[1]]
    across = (right - left) / np.linalg.norm(right - left)
    down = np.array([-across[1], across[0]])
    along = np.linspace(-_REACH, _REACH, _ROWS) * eye_distance
    beside = np.linspace(-_HALF_WIDTH, _HALF_WIDTH, 7) * eye_distance
    positions = (left + right) / 2 + along[:, None, None] * down + beside[None, :, None] * across
    strip = sample_grey(image, positions, max(0.6, 0.008 * eye_distance))
    profile = np.median(strip, axis=1)[:, None]
    surroundings = cv2.blur(profile, (1, _BACKGROUND_ROWS), borderType=cv2.BORDER_REFLECT)
    contrast = float(np.abs(profile - surroundings).max()) / max(float(np.median(strip)), 20.0)
    return float(smoothstep(_BARE, _RIM, contrast))
