"""Whether a picture stands on its head.

The networks find a face that lies on its side as it lies, but see an upright one in a face that is upside
down, wrongly: its nose in the forehead. They are less sure of it than of the same face the right way up.
"""

import math

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.face_mesh import Face
from avatar_cli.families.portrait.landmarks import OUTER_EYE_CORNERS
from avatar_cli.families.portrait.tracker import MIN_PRESENCE_IN_SEARCH, FaceTracker

# In logits of presence: 4.9 to 17 between the right way up and the other, of 30 pictures.
_SURER = 4.0
_SUREST = 1e-15


def is_upside_down(image: NDArray[np.uint8], face: Face, tracker: FaceTracker) -> bool:
    """Whether the face found in uint8 [H, W, 3] RGB is surer when the picture is turned by 180 degrees."""
    low, high = face.landmarks[:, :2].min(axis=0), face.landmarks[:, :2].max(axis=0)
    last = np.array(image.shape[1::-1]) - 1
    for other in _turned_faces(image, tracker):
        middle = last - other.landmarks[:, :2].mean(axis=0)
        if (middle > low).all() and (middle < high).all():
            return _is_upright(other) and _logit(other) - _logit(face) > _SURER
    return False


def shows_upside_down(image: NDArray[np.uint8], tracker: FaceTracker) -> bool:
    """Whether uint8 [H, W, 3] RGB, in which no face was found, shows one when it is turned by 180 degrees."""
    faces = _turned_faces(image, tracker)
    return any(face.presence >= MIN_PRESENCE_IN_SEARCH and _is_upright(face) for face in faces)


def _turned_faces(image: NDArray[np.uint8], tracker: FaceTracker) -> list[Face]:
    return tracker.faces(np.ascontiguousarray(image[::-1, ::-1]), search=False)


def _is_upright(face: Face) -> bool:
    """Whether the eyes lie beside each other, and not one above the other."""
    first, last = OUTER_EYE_CORNERS
    across, down = face.landmarks[last, :2] - face.landmarks[first, :2]
    return bool(across > abs(down))


def _logit(face: Face) -> float:
    presence = min(face.presence, 1 - _SUREST)
    return math.log(presence / (1 - presence))
