"""The canvas in layers: the person, who moves, over what stays still behind."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.compositing import scaled_by
from avatar_cli.families.portrait.decoder.behind import fill_behind
from avatar_cli.families.portrait.decoder.face_frame import FaceFrame
from avatar_cli.families.portrait.decoder.masks import Ellipse
from avatar_cli.families.portrait.decoder.matte import person_opacity
from avatar_cli.families.portrait.person_mask import person_of_cutout
from avatar_cli.families.portrait.reference import PortraitReference

_NOSE_TIP = 4
_WHOLE_SKULL = 0.95
_PERSON = 0.5  # probability
_MARGIN = 0.03  # e around the person: so far the background is tinted by it
_UNSEEN = 0.04  # opacity that could not be seen
_AROUND = 0.25  # e
_STRAYS = 2.0  # standard deviations
_SURE = 0.3  # opacity from which a pixel shows the person


@dataclass(frozen=True)
class Layers:
    """What frames are drawn from.

    Attributes:
        front: uint8 [H, W, 4], premultiplied RGBA, or [H, W, 3] where nothing is seen behind it.
        back: uint8 [H, W, 3], seen through the front; over it the unmoved front is the canvas, bit for bit.
        person: bool [H, W], where the person is.
        person_is_apart: Whether the front shows the person alone; else the background moves with them.
    """

    front: NDArray[np.uint8]
    back: NDArray[np.uint8]
    person: NDArray[np.bool_]
    person_is_apart: bool

    @property
    def opacity(self) -> NDArray[np.uint8]:
        """Of the front [H, W]."""
        if self.front.shape[2] == 4:
            return self.front[..., 3]
        return np.full(self.front.shape[:2], 255, np.uint8)


def layers_of(reference: PortraitReference, scene: NDArray[np.uint8], face: FaceFrame, around: Box) -> Layers:
    """A cut-out over its `scene`; else the person cut out `around` the head, over a made-up background.

    A head that cannot be told from its background stays one sheet with it.
    """
    cutout = reference.cutout
    if cutout is not None:
        if person_of_cutout(cutout, reference.picture) is None:
            return Layers(cutout, scene, reference.person >= _PERSON, person_is_apart=False)
        return Layers(cutout, scene, cutout[..., 3] > 0, person_is_apart=True)
    image = np.ascontiguousarray(reference.image[around.inside])
    probability = np.ascontiguousarray(reference.person[around.inside])
    x, y = (face.points[_NOSE_TIP] - around.origin).astype(int)
    opacity = person_opacity(image, probability, (int(x), int(y)), face.eye_distance)
    if not _shows_skull(opacity, face, around):
        return Layers(reference.image, reference.image, reference.person >= _PERSON, person_is_apart=False)
    margin = max(round(_MARGIN * face.eye_distance), 1)
    around_person = cv2.dilate(
        (opacity > 0).view(np.uint8), np.ones((2 * margin + 1, 2 * margin + 1), np.uint8)
    )
    hidden = around_person > 0
    behind = fill_behind(image, hidden, face.eye_distance)
    front, behind = _apart(image, opacity, hidden, behind, _grain(image, hidden, face.eye_distance))
    whole_front = np.zeros((*reference.image.shape[:2], 4), np.uint8)
    whole_front[around.inside] = front
    back = reference.image.copy()
    back[around.inside] = behind
    return Layers(whole_front, back, whole_front[..., 3] > 0, person_is_apart=True)


def _shows_skull(opacity: NDArray[np.float32], face: FaceFrame, around: Box) -> bool:
    """Whether the matte [h, w] has the forehead and what every head has above: some drawn heads lack it."""
    degrees = float(np.degrees(np.arctan2(face.right[1], face.right[0])))
    skull = Ellipse(face.centre - around.origin, (0.5 * face.width, 0.68 * face.height), degrees)
    expected = skull.mask(*opacity.shape)
    y, x = np.ogrid[: opacity.shape[0], : opacity.shape[1]]
    offset = face.centre - around.origin
    above = (x - offset[0]) * face.down[0] + (y - offset[1]) * face.down[1] < -0.2 * face.height
    return bool((opacity[above & (expected > 0)] > _PERSON).mean() > _WHOLE_SKULL)


def _grain(image: NDArray[np.uint8], hidden: NDArray[np.bool_], eye_distance: float) -> NDArray[np.float32]:
    """How far the seen background strays from its own mean around every pixel, float32 [H, W], levels."""
    side = 2 * max(round(_AROUND * eye_distance / 2), 1) + 1
    size = (max(image.shape[1] // 2, 1), max(image.shape[0] // 2, 1))
    seen = cv2.resize((~hidden).astype(np.float32), size, interpolation=cv2.INTER_AREA) == 1
    grey = cv2.resize(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), size, interpolation=cv2.INTER_AREA)
    grey = np.where(seen, grey, 0).astype(np.float32)
    share, mean, square = (
        cv2.blur(plane, (side, side)) for plane in (seen.astype(np.float32), grey, grey * grey)
    )
    share = np.maximum(share, np.float32(1e-3))
    deviation = np.sqrt(np.maximum(square / share - (mean / share) ** 2, 0)).astype(np.float32)
    return np.asarray(cv2.resize(deviation, image.shape[1::-1], interpolation=cv2.INTER_LINEAR), np.float32)


def _apart(
    image: NDArray[np.uint8],
    opacity: NDArray[np.float32],
    hidden: NDArray[np.bool_],
    behind: NDArray[np.uint8],
    grain: NDArray[np.float32],
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Front [h, w, 4] and back [h, w, 3] that make up the image exactly, for a guess of both.

    A pixel darker or brighter than the background must be as opaque as that takes; otherwise some of the
    person would stay in the back, and show as a line where the head has been. Beside the matte that counts
    only for what stands out from the background's own grain, such as loose hair.
    """
    soft = hidden & (opacity < 1)
    seen, ground, guess = image[soft].astype(np.float32), behind[soft].astype(np.float32), opacity[soft]
    darker = 1 - (seen / np.maximum(ground, 1)).min(axis=1)
    brighter = ((seen - ground) / np.maximum(255 - ground, 1)).max(axis=1)
    needed = np.maximum(darker, brighter)
    needed *= ((needed - _UNSEEN) / _UNSEEN).clip(0, 1)
    stands_out = np.abs(seen - ground).max(axis=1) / (_STRAYS * grain[soft] + 1) - 1
    needed *= np.maximum(stands_out, guess * (1 / _SURE)).clip(0, 1)
    share = np.ceil(np.maximum(guess, needed) * 255).clip(0, 255)
    # No brighter than what the pixel leaves room for, were the front black.
    most = np.where(share < 255, seen.T * 255 / np.maximum(255 - share, 1), 255).T
    alpha = np.where(hidden, np.uint8(255), np.uint8(0))
    alpha[soft] = share
    back = behind.copy()
    back[soft] = np.where(share[:, None] > 0, np.minimum(ground, np.floor(most)), seen)
    transparency = np.asarray(cv2.bitwise_not(alpha), np.uint8)
    front = np.dstack([cv2.subtract(image, scaled_by(back, transparency)), alpha])
    return front, back
