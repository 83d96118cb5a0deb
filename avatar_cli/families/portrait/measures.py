"""What the motion latents measure on a face mesh in the canonical frame.

The nine distances of the mouth are linear in the mesh, so they are one matrix; lids, brows and gaze are
compared with the same person's neutral face.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.landmarks import LEFT_EYE, RIGHT_EYE, Eye
from avatar_cli.families.portrait.latents import MESH_POINTS, MOUTH, UPPER

Floats = NDArray[np.float32]

_X, _Y, _Z = 0, 1, 2
# Each distance is the mean coordinate of some landmarks, minus that of others.
_MOUTH_TERMS: dict[str, tuple[int, tuple[int, ...], tuple[int, ...]]] = {
    "jaw_drop": (_Y, (152, 148, 377), ()),
    "gap": (_Y, (14, 87, 317), (13, 82, 312)),
    "width": (_X, (291,), (61,)),
    "upper_lip_y": (_Y, (13, 82, 312), ()),
    "corner_y": (_Y, (61, 291), ()),
    "lower_roll": (_Y, (17, 84, 314), (14, 87, 317)),
    "upper_roll": (_Y, (13, 82, 312), (0, 37, 267)),
    "shift_x": (_X, (61, 291, 0, 17), ()),
    "protrude": (_Z, (0, 13, 14, 17), ()),
}
# The middle of a lid, where its height is measured.
_LID_MIDDLE = slice(3, 6)
# An eye below this share of its neutral opening hides too much iris for its gaze to be trusted.
MIN_OPENING_FOR_GAZE = 0.5


def mouth_matrix() -> Floats:
    """float32 [9, 478, 3]: the weight of every mesh coordinate in each of `latents.MOUTH`."""
    matrix = np.zeros((len(MOUTH), MESH_POINTS, 3), np.float32)
    for row, name in zip(matrix, MOUTH, strict=True):
        axis, plus, minus = _MOUTH_TERMS[name]
        row[list(plus), axis] += 1 / len(plus)
        if minus:
            row[list(minus), axis] -= 1 / len(minus)
    return matrix


def measure_mouth(canonical: NDArray) -> Floats:
    """The nine distances of `latents.MOUTH`: meshes [..., 478, 3] in e to float32 [..., 9] in e.

    Absolute values: subtract those of the person's closed neutral face for latents.
    """
    return np.einsum("...pc,kpc->...k", canonical, mouth_matrix()).astype(np.float32)


@dataclass(frozen=True)
class UpperFace:
    """Absolute measures of the upper face; every field is float32 [...].

    Attributes:
        lid_opening: Height of the eye slits, e.
        brow_y: Height of the brows, e, down is positive.
        gaze_x: Iris centre right of the middle of the eye corners, iris radii.
        gaze_y: Iris centre below the middle of the eye corners, iris radii.
        lower_lid_y: Height of the lower lids, e, down is positive.
    """

    lid_opening: Floats
    brow_y: Floats
    gaze_x: Floats
    gaze_y: Floats
    lower_lid_y: Floats

    def at(self, frames: NDArray) -> "UpperFace":
        """The medians of these frames (a boolean or integer index)."""
        return UpperFace(*(np.median(values[frames]).astype(np.float32) for values in vars(self).values()))


def measure_upper_face(canonical: NDArray) -> UpperFace:
    """Absolute measures of meshes [..., 478, 3] in e; the mean of both eyes."""
    left, right = _measure_eye(canonical, LEFT_EYE), _measure_eye(canonical, RIGHT_EYE)
    return UpperFace(*((left + right) / 2).astype(np.float32))


def upper_latents(measured: UpperFace, neutral: UpperFace) -> Floats:
    """float32 [..., 6] in the order of `latents.UPPER`, relative to the neutral face.

    Gaze and squint are meaningless while the eye is nearly shut (`trust_gaze`).
    """
    opening = measured.lid_opening / neutral.lid_opening
    raised = neutral.brow_y - measured.brow_y
    channels = {
        "blink": np.clip(1 - opening, 0, 1),
        "brow_raise": np.maximum(raised, 0),
        "brow_lower": np.maximum(-raised, 0),
        "gaze_x": measured.gaze_x - neutral.gaze_x,
        "gaze_y": measured.gaze_y - neutral.gaze_y,
        "squint": neutral.lower_lid_y - measured.lower_lid_y,
    }
    return np.stack([channels[name] for name in UPPER], axis=-1).astype(np.float32)


def trust_gaze(measured: UpperFace, neutral: UpperFace) -> NDArray[np.bool_]:
    """Where the eyes are open enough for gaze and squint to be measured."""
    return np.asarray(measured.lid_opening / neutral.lid_opening > MIN_OPENING_FOR_GAZE)


def _measure_eye(canonical: NDArray, eye: Eye) -> NDArray:
    upper = canonical[..., list(eye.upper_lid[_LID_MIDDLE]), _Y].mean(axis=-1)
    lower = canonical[..., list(eye.lower_lid[_LID_MIDDLE]), _Y].mean(axis=-1)
    brow = canonical[..., list(eye.brow), _Y].mean(axis=-1)
    corners = (canonical[..., eye.upper_lid[0], :2] + canonical[..., eye.upper_lid[-1], :2]) / 2
    iris = canonical[..., list(eye.iris), :2]
    radius = np.linalg.norm(iris[..., 1:, :] - iris[..., :1, :], axis=-1).mean(axis=-1)
    gaze = (iris[..., 0, :] - corners) / radius[..., None]
    return np.stack([lower - upper, brow, gaze[..., 0], gaze[..., 1], lower])
