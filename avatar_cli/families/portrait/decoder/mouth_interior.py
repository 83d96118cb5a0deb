"""What is seen between the lips: own teeth and tongue where a picture shows them, drawn ones otherwise."""

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.decoder.face_frame import FaceFrame
from avatar_cli.families.portrait.decoder.interior_layers import (
    NOTHING_SEEN,
    Sight,
    interior_layers,
)
from avatar_cli.families.portrait.decoder.light import lip_colour, tooth_colour
from avatar_cli.families.portrait.decoder.masks import blend, soften
from avatar_cli.families.portrait.decoder.matched_view import MatchedView
from avatar_cli.families.portrait.decoder.opening import Opening
from avatar_cli.families.portrait.decoder.spline import smoothstep
from avatar_cli.families.portrait.decoder.teeth import STANDARD_MOUTH, FrontPart, lower_row, upper_row
from avatar_cli.families.portrait.decoder.tongue import tongue
from avatar_cli.families.portrait.geometry import Pose

_JAW = [152, 148, 377, 176, 400, 175, 199]
_UPPER_LIP = 13
_LOWER_LIP = 14
_SHOWN_BELOW_SEAM = 0.030  # e
_SHOWN_BY_LONG_LIPS = 0.018  # e
_BEYOND_SEEN = (0.05, 0.15)  # e
_SHADE = 0.25
_MORE_SHADE = 0.25


class MouthInterior:
    """Draws the inside of the mouth for one photo."""

    def __init__(self, face: FaceFrame, mouth_box: Box, view: MatchedView | None) -> None:
        """Take teeth and tongue from the photo inside `mouth_box`, or from a `view` of them."""
        self._face = face
        lips = lip_colour(face.image, face.points)
        self._cavity = np.clip(lips * [0.19, 0.14, 0.14] + [8, 2, 2], 6, 70)
        self._tongue = tongue(lips * [0.66, 0.46, 0.48], face.mouth_width)
        self._size = face.mouth_width / STANDARD_MOUTH
        density = float(np.clip(2 * face.eye_distance, 160, 480))
        tooth = tooth_colour(face.image, face.points, face.eye_distance)
        self._lower_teeth: FrontPart = lower_row(tooth, face.mouth_width, density)
        mesh = face.canonical
        self._seam = mesh[_UPPER_LIP] if face.mouth_is_open else (mesh[_UPPER_LIP] + mesh[_LOWER_LIP]) / 2
        self._seen_jaw = mesh[_JAW].mean(axis=0)
        self._layers = NOTHING_SEEN
        if view is not None:
            image, seen = view.image, view.canonical
            sight = Sight(image, view.points, view.pose, seen[_UPPER_LIP], self._size, lips, tooth)
            self._layers = interior_layers(sight, Box(0, 0, image.shape[1], image.shape[0]))
            self._seen_jaw = seen[_JAW].mean(axis=0)
        elif face.mouth_is_open:
            sight = Sight(face.image, face.points, face.pose, self._seam, self._size, lips, tooth)
            self._layers = interior_layers(sight, _within(mouth_box, face.image))
        # Parted lips that hide the upper teeth are long: they never show much of them.
        shown = _SHOWN_BY_LONG_LIPS if face.mouth_is_open and view is None else _SHOWN_BELOW_SEAM
        self._upper_teeth: FrontPart = upper_row(tooth, face.mouth_width, density)
        self._upper_edge = self._seam + np.array([0.0, shown * self._size, 0.02])
        self._is_drawn = self._layers is NOTHING_SEEN and not face.mouth_is_open

    def draw(self, mesh: NDArray[np.float64], pose: Pose, opening: Opening) -> NDArray[np.uint8]:
        """Picture [h, w, 4] over `opening.box`; `mesh` [478, 3] is the frame's canonical mesh, e."""
        face, box, layers = self._face, opening.box, self._layers
        picture = _plain(self._cavity, box)
        gap = opening.widest / face.eye_distance
        # Opened much further than where it was seen, what lies below the upper teeth has to be drawn.
        drawn = 1.0 if layers.lower is None else float(smoothstep(*_BEYOND_SEEN, gap - layers.gap))
        if drawn > 0.0:
            picture = self._with_tongue(picture, box, pose, mesh, gap)
            picture = self._with_lower_teeth(picture, box, pose, mesh, gap)
        if layers.lower is not None and drawn < 1.0:
            jaw = mesh[_JAW].mean(axis=0) - self._seen_jaw
            moved = np.array([jaw[0], jaw[1], 0.0])
            picture = layers.lower.draw(picture, box.origin, pose, moved, 1.0 - drawn)
        if layers.upper is None:
            picture = self._upper_teeth.draw(picture, box.origin, pose, self._upper_edge)
        else:
            picture = layers.upper.draw(picture, box.origin, pose, np.zeros(3))
        # What a picture shows is shaded already, as far as the mouth is open in it.
        shade = _SHADE if self._is_drawn else _MORE_SHADE * min(1.0, abs(gap - layers.gap) / 0.08)
        return self._shaded(picture, opening, shade) if shade > 0 else picture

    def _with_tongue(
        self, picture: NDArray[np.uint8], box: Box, pose: Pose, mesh: NDArray[np.float64], gap: float
    ) -> NDArray[np.uint8]:
        # The wider the mouth, the more of the tongue shows above the lower lip.
        sink = 0.075 - 0.075 * float(smoothstep(0.06, 0.24, gap))
        at = mesh[_LOWER_LIP] + np.array([0.0, sink * self._size, 0.05])
        return self._tongue.draw(picture, box.origin, pose, at)

    def _with_lower_teeth(
        self, picture: NDArray[np.uint8], box: Box, pose: Pose, mesh: NDArray[np.float64], gap: float
    ) -> NDArray[np.uint8]:
        face = self._face
        jaw = (mesh[_JAW] - face.canonical[_JAW]).mean(axis=0)
        # Under own teeth the lower row hides behind the lip until the jaw has dropped: it would be a second
        # row right below them.
        own = self._layers.upper is not None
        below = face.canonical[_LOWER_LIP] if own else self._seam
        rise = 0.030 * float(smoothstep(0.05, 0.16, gap - face.widest_gap)) - 0.012 if own else -0.022
        edge = below + np.array([jaw[0], jaw[1] - rise * self._size, 0.02])
        return self._lower_teeth.draw(picture, box.origin, pose, edge)

    def _shaded(self, picture: NDArray[np.uint8], opening: Opening, strength: float) -> NDArray[np.uint8]:
        """Darker near the lips, most under the upper one.

        Toward the colour of the cavity: toward black teeth would turn blue.
        """
        unit = self._face.eye_distance
        light = np.asarray(
            cv2.convertScaleAbs(soften(opening.mask(), max(1.0, 0.035 * unit)), alpha=1.25), np.uint8
        )
        offset = max(1, round(0.03 * unit))
        lowered = np.zeros_like(light)
        lowered[offset:] = light[:-offset]
        seen = np.minimum(light, lowered) * np.float32(strength) + np.float32(255 * (1 - strength))
        return blend(_plain(0.8 * self._cavity, opening.box), picture, seen.astype(np.uint8))


def _plain(colour: NDArray[np.floating], box: Box) -> NDArray[np.uint8]:
    picture = np.empty((box.height, box.width, 4), np.uint8)
    picture[...] = (*np.round(colour).astype(int), 255)
    return picture


def _within(box: Box, image: NDArray[np.uint8]) -> Box:
    rows, columns = image.shape[:2]
    return Box(max(box.left, 0), max(box.top, 0), min(box.right, columns), min(box.bottom, rows))
