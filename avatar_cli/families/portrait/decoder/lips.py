"""Lips: the seam of a closed mouth in the photo, and lips that meet when they should and never cross."""

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.decoder.sampling import sample_grey
from avatar_cli.families.portrait.decoder.spline import natural_cubic_operator, smoothstep
from avatar_cli.families.portrait.landmarks import (
    INNER_LOWER_LIP,
    INNER_UPPER_LIP,
    LIPS,
    LOWER_LIP_RINGS,
    UPPER_LIP_RINGS,
)

SAMPLES_PER_SEGMENT = 5
LIP_CURVE = natural_cubic_operator(len(INNER_UPPER_LIP), SAMPLES_PER_SEGMENT)

_SEARCH = 0.055  # e to either side of the tracked line
_SLOPE_COST = 0.25
_OFFSET_COST = 0.7
_COLUMNS = 41

_CENTRE = slice(1, -1)  # lip points between the corners
_UPPER_SHARE = 0.4
_LOWER_SHARE = 0.6
_RING_FOLLOWING = (1.0, 0.9, 0.82, 0.62)  # from the inner ring to the outer one


def snap_to_seam(
    image: NDArray[np.uint8], points: NDArray[np.float64], eye_distance: float
) -> NDArray[np.float64]:
    """Move the inner lip points of a closed mouth onto the dark seam of the photo.

    The tracker places them a few pixels beside it, and a slit cut there would show lip colour on both sides.
    The seam is the cheapest path through grey values sampled along the normals of the tracked line.

    Args:
        image: uint8 [H, W, 3], RGB.
        points: [478, 2], px.
        eye_distance: px of 1 e.

    Returns:
        A copy of `points` in which both inner lips coincide.
    """
    moved = points.copy()
    upper, lower = list(INNER_UPPER_LIP), list(INNER_LOWER_LIP)
    curve = LIP_CURVE @ ((points[upper] + points[lower]) / 2)
    along = np.linspace(0.0, 1.0, _COLUMNS)
    knots = np.linspace(0.0, 1.0, len(curve))
    line = np.stack([np.interp(along, knots, curve[:, axis]) for axis in (0, 1)], axis=1)
    direction = line[-1] - line[0]
    direction /= np.linalg.norm(direction)
    normal = np.array([-direction[1], direction[0]])
    reach = max(2, int(_SEARCH * eye_distance))
    offsets = np.linspace(-reach, reach, 4 * reach + 1)
    positions = line[:, None] + offsets[None, :, None] * normal
    profile = sample_grey(image, positions, max(0.6, 0.006 * eye_distance))
    cost = profile - profile.mean(axis=1, keepdims=True)
    cost = cost / (cost.std() + 1e-6) + _OFFSET_COST * (offsets[None] / reach) ** 2
    path = offsets[_cheapest_path(cost)]
    path = cv2.GaussianBlur(path.astype(np.float32)[None], (0, 0), 1.5)[0]
    path = path * np.sin(np.pi * along) ** 0.3
    inner = np.arange(1, len(upper) - 1)
    columns = np.round(inner * (_COLUMNS - 1) / (len(upper) - 1)).astype(int)
    seam = line[columns] + normal * path[columns, None]
    moved[np.asarray(upper)[inner]] = seam
    moved[np.asarray(lower)[inner]] = seam
    return moved


def _cheapest_path(cost: NDArray[np.floating]) -> NDArray[np.intp]:
    """Row of the cheapest left-to-right path in cost [columns, rows]; a step moves at most two rows."""
    columns, rows = cost.shape
    total = cost.astype(np.float64)
    origin = np.zeros(cost.shape, np.intp)
    steps = range(-2, 3)
    for column in range(1, columns):
        padded = np.pad(total[column - 1], 2, constant_values=np.inf)
        arrivals = np.stack([padded[2 + step : 2 + step + rows] + _SLOPE_COST * abs(step) for step in steps])
        best = arrivals.argmin(axis=0)
        total[column] += arrivals[best, np.arange(rows)]
        origin[column] = np.arange(rows) + best - 2
    path = np.empty(columns, np.intp)
    path[-1] = total[-1].argmin()
    for column in range(columns - 1, 0, -1):
        path[column - 1] = origin[column, path[column]]
    return path


class LipSeal:
    """Brings the lips together, and keeps them from crossing, in the canonical frame."""

    def __init__(self, canonical: NDArray[np.float64], mouth_width: float) -> None:
        """Prepare for the photo's mesh `canonical` [478, 3] (e) with the given mouth width (e)."""
        self._upper = np.array(INNER_UPPER_LIP)[_CENTRE]
        self._lower = np.array(INNER_LOWER_LIP)[_CENTRE]
        self._upper_rings = [np.array(ring)[_CENTRE] for ring in UPPER_LIP_RINGS]
        self._lower_rings = [np.array(ring)[_CENTRE] for ring in LOWER_LIP_RINGS]
        skin = np.setdiff1d(np.arange(468), LIPS)
        centre = (canonical[13] + canonical[14]) / 2
        x, y = ((canonical[skin] - centre)[:, :2] / (0.5 * mouth_width)).T
        reach = np.where(y < 0, 0.8, 1.2)
        following = np.where(y < 0, 0.22, -0.36) * np.exp(-((x / 0.8) ** 4)) * np.exp(-((y / reach) ** 2))
        near = (np.abs(x) < 1.2) & (y > -1.0) & (y < 1.6)
        # Tracked lips may cross a little in the photo itself; that is its rest.
        self._crossing = np.minimum(canonical[self._lower, 1] - canonical[self._upper, 1], 0.0)
        self._skin = skin[near]
        self._following = following[near]

    def apply(self, mesh: NDArray[np.float64], closing: float) -> None:
        """Close the share `closing` (0..1) of every gap of `mesh` [478, 3] in place; undo all crossings."""
        gap = mesh[self._lower, 1] - mesh[self._upper, 1] - self._crossing
        move = np.where(gap > 0, gap * closing, gap)
        for ring, following in zip(self._upper_rings, _RING_FOLLOWING, strict=True):
            mesh[ring, 1] += _UPPER_SHARE * following * move
        for ring, following in zip(self._lower_rings, _RING_FOLLOWING, strict=True):
            mesh[ring, 1] -= _LOWER_SHARE * following * move
        widest = max(float(move.max()), 0.0)
        if widest > 0.0:
            mesh[self._skin, 1] += widest * self._following


def closing_share(gap: float, photo_gap: float) -> float:
    """How far the lips are to be closed (0..1) for an asked absolute `gap`, e.

    1 at and below 0.01 e, 0 from 0.03 e; both limits shrink with the photo's own gap, so that the photo's
    own opening is never closed.
    """
    closed = min(0.01, photo_gap / 3)
    opened = max(min(0.03, photo_gap), closed + 1e-6) if photo_gap > 0 else 0.03
    return 1.0 - float(smoothstep(closed, opened, gap))
