"""Whether a face looks like one in a photo of a person, and whether its mouth and eyes can be seen.

All answers keep a margin to every real face that they were tried on, so that no person is told to look like a
drawing. Paintings and statues of natural proportions are therefore taken for people.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.face_cut import cut_around
from avatar_cli.families.portrait.geometry import CHIN_TIP, ORIGIN
from avatar_cli.families.portrait.landmarks import (
    FACE_OVAL,
    LEFT_EYE,
    OUTER_LOWER_LIP,
    OUTER_UPPER_LIP,
    RIGHT_EYE,
)

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
# Shares of the deviation of the lightness on the whole face. Lips that are seen have a deviation of 0.38 and
# more of their own, or differ from the skin around them: those of smiles and of dark faces in the first, the
# pale and the blurred in the second. Plain masks with folds reach 0.36 and 0.33, and 0.7 in redness.
LEAST_LIP_CONTRAST = 0.38
LEAST_LIP_SHADE = 0.35
LEAST_LIP_REDNESS = 1.2  # a* of CIE Lab
# How much darker than the cheeks what is around an eye is, and how much darker still the eye is. Eyes that
# lie in such a shade are darker than it by 0.45 and more; behind dark glasses nothing is.
SHADE_OF_GLASSES = 1.5
LEAST_EYE_SHADE = 0.25
MEASURED_SIDE = 200
_LIP_RING = (5, 13)  # pixels of MEASURED_SIDE: the skin around lips, and how near it begins
_EYE_RING = 15
_LIPS = (*OUTER_UPPER_LIP, *reversed(OUTER_LOWER_LIP))
_EYES = tuple((*eye.upper_lid, *reversed(eye.lower_lid)) for eye in (LEFT_EYE, RIGHT_EYE))
_CHEEKS = ((117, 118, 101, 36, 205, 187, 123, 50), (346, 347, 330, 266, 425, 411, 352, 280))


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


@dataclass(frozen=True)
class _SeenFace:
    """A face brought to MEASURED_SIDE.

    Attributes:
        lab: float32 [h, w, 3], CIE Lab in steps of 8 bits.
        points: [478, 2], its mesh in pixels of it.
    """

    lab: NDArray[np.float32]
    points: NDArray

    def within(self, outline: tuple[int, ...]) -> NDArray[np.bool_]:
        """Which pixels [h, w] lie in the polygon through some of the points."""
        mask = np.zeros(self.lab.shape[:2], np.uint8)
        cv2.fillPoly(mask, [self.points[list(outline)].round().astype(np.int32)], (1,))
        return mask > 0

    @property
    def contrast(self) -> float:
        """Deviation of the lightness on the face."""
        return float(self.lab[self.within(FACE_OVAL), 0].std())


def hides_mouth(image: NDArray[np.uint8], landmarks: NDArray) -> bool:
    """Whether something plain, such as a bar or a mask with folds, covers the mouth of a mesh [478, 3].

    There the lips have the colour of what is around them. `image` is uint8 [H, W, 3], RGB. A hand, a
    microphone or a patterned mask is not recognised: what they show in place of lips varies as lips do.
    """
    face = _seen_face(image, landmarks)
    lips = face.within(_LIPS)
    nearest, furthest = (_widened(lips, pixels) for pixels in _LIP_RING)
    around = furthest & ~nearest & face.within(FACE_OVAL)
    if not lips.any() or not around.any():
        return False
    shade, redness, _ = np.abs(face.lab[lips].mean(axis=0) - face.lab[around].mean(axis=0))
    return bool(
        face.lab[lips, 0].std() < LEAST_LIP_CONTRAST * face.contrast
        and shade < LEAST_LIP_SHADE * face.contrast
        and redness < LEAST_LIP_REDNESS
    )


def hides_eyes(image: NDArray[np.uint8], landmarks: NDArray) -> bool:
    """Whether dark glasses cover the eyes of a mesh [478, 3]: dark all around, and no eye within.

    `image` is uint8 [H, W, 3], RGB, and shows the cheeks. Tinted glasses through which eyes are seen,
    mirrored ones, and such as reach far down the cheeks are not recognised.
    """
    face = _seen_face(image, landmarks)
    cheeks = np.logical_or(*(face.within(cheek) for cheek in _CHEEKS))
    return all(_is_behind_glass(face, face.within(eye), cheeks) for eye in _EYES)


def _is_behind_glass(face: _SeenFace, eye: NDArray[np.bool_], cheeks: NDArray[np.bool_]) -> bool:
    around = _widened(eye, _EYE_RING) & ~eye
    if not (eye.any() and around.any() and cheeks.any()):
        return False
    inside, outside, skin = (float(face.lab[where, 0].mean()) for where in (eye, around, cheeks))
    return bool(
        skin - outside > SHADE_OF_GLASSES * face.contrast
        and outside - inside < LEAST_EYE_SHADE * face.contrast
    )


def _seen_face(image: NDArray[np.uint8], landmarks: NDArray) -> _SeenFace:
    part, first = cut_around(image, landmarks, around=0.1)
    factor = MEASURED_SIDE / float(np.ptp(landmarks[:, :2], axis=0).max())
    filtering = cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR
    shrunk = np.asarray(cv2.resize(part, None, fx=factor, fy=factor, interpolation=filtering), np.uint8)
    points = (landmarks[:, :2] - first[:2] + 0.5) * factor - 0.5
    return _SeenFace(cv2.cvtColor(shrunk, cv2.COLOR_RGB2LAB).astype(np.float32), points)


def _widened(mask: NDArray[np.bool_], pixels: int) -> NDArray[np.bool_]:
    return np.asarray(cv2.dilate(mask.astype(np.uint8), np.ones((pixels, pixels), np.uint8)) > 0)
