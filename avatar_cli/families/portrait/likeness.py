"""Whether a face looks like one in a photo of a person, and whether its mouth can be seen.

Both answers keep a margin to every real face that they were tried on, so that no person is told to look like
a drawing. Paintings and statues of natural proportions are therefore taken for people.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.face_mesh import pixels_between
from avatar_cli.families.portrait.geometry import CHIN_TIP, ORIGIN
from avatar_cli.families.portrait.landmarks import FACE_OVAL, OUTER_LOWER_LIP, OUTER_UPPER_LIP

NOSE_TIP = 1
FACE_SIDES = (234, 454)
NOSTRILS = (98, 327)
LIDS = ((159, 145), (386, 374))
# Drawn characters have a short face with large, open eyes and a small nose: their `_maturity` is 2.69 to
# 2.83 e, that of a baby 3.03, that of adults 3.06 and more.
LEAST_MATURITY = 2.93
# Drop of the nose tip below the nose root against the width of the face. A dog's snout ends high: 0.19;
# people's noses reach 0.22 and more.
SHORTEST_NOSE = 0.205
# Deviation of the lightness on the lips against that on the face: 0 where a bar hides them, 0.33 and more
# where they are seen, also closed ones in blurred pictures.
LEAST_LIP_CONTRAST = 0.15
MEASURED_SIDE = 256


def has_human_proportions(canonical: NDArray) -> bool:
    """Whether a mesh [478, 3] in the canonical frame, in e, has the proportions of a person of any age.

    It is to be asked of faces towards the camera: the mesh of a turned one is foreshortened.
    """
    nose = float(canonical[NOSE_TIP, 1] - canonical[ORIGIN, 1])
    return _maturity(canonical) >= LEAST_MATURITY and nose >= SHORTEST_NOSE * _distance(canonical, FACE_SIDES)


def _maturity(canonical: NDArray) -> float:
    """Height below the nose root and width of the face, plus twice the nose's width beyond the eyes' opening.

    All in e. It grows from the proportions of a drawn character over those of a child to an adult's.
    """
    height = float(canonical[CHIN_TIP, 1] - canonical[ORIGIN, 1])
    opening = sum(_distance(canonical, lids) for lids in LIDS) / 2
    return height + _distance(canonical, FACE_SIDES) + 2 * (_distance(canonical, NOSTRILS) - opening)


def _distance(mesh: NDArray, points: tuple[int, int]) -> float:
    first, last = points
    return float(np.linalg.norm(mesh[last] - mesh[first]))


def hides_mouth(image: NDArray[np.uint8], landmarks: NDArray) -> bool:
    """Whether something plain covers the mouth, so that the lips of a mesh [478, 3] have one colour.

    `image` is uint8 [H, W, 3], RGB, and shows the place of the lips. A hand, a microphone or a patterned mask
    is not recognised.
    """
    face, points = _gray_face(image, landmarks[:, :2])
    lips = _inside(face, points, (*OUTER_UPPER_LIP, *reversed(OUTER_LOWER_LIP)))
    whole = _inside(face, points, FACE_OVAL)
    return bool(lips.std() < LEAST_LIP_CONTRAST * whole.std())


def _gray_face(image: NDArray[np.uint8], points: NDArray) -> tuple[NDArray[np.uint8], NDArray]:
    """The part of the picture around the face in gray, not above MEASURED_SIDE, and the points in it."""
    height, width = image.shape[:2]
    low, high = points.min(axis=0), points.max(axis=0)
    left, right = pixels_between(low[0], high[0] + 1, width)
    top, bottom = pixels_between(low[1], high[1] + 1, height)
    gray = cv2.cvtColor(image[top:bottom, left:right], cv2.COLOR_RGB2GRAY)
    moved = points - (left, top)
    factor = MEASURED_SIDE / max(gray.shape)
    if factor < 1:
        gray = cv2.resize(gray, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
        moved = (moved + 0.5) * factor - 0.5
    return np.asarray(gray, np.uint8), moved


def _inside(gray: NDArray[np.uint8], points: NDArray, outline: tuple[int, ...]) -> NDArray[np.uint8]:
    """The samples [N] within the polygon through some of the points."""
    mask = np.zeros(gray.shape, np.uint8)
    cv2.fillPoly(mask, [points[list(outline)].round().astype(np.int32)], (1,))
    return gray[mask > 0]
