"""Which pixels of a picture show a person: the cut-out tells, or MediaPipe's selfie segmentation network."""

from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.tflite import load_network, run_network

NETWORK_SIDE = 256
# More than this is cut away from a picture whose transparency follows a person. A disc leaves 0.21 of its
# square transparent: such a picture has a frame, and a background of its own.
_CUT_AWAY = 0.25
_NEARER = 0.6  # weight of the logarithm of the near view's probability
_LEAST = 0.01  # probability
_FADE = 0.1  # of the near view's side: at its border the far view counts alone


class Segmentation(Protocol):
    """Finds the person in a picture."""

    def mask(self, image: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Probability 0..1 of a person, float32 [H, W], for uint8 [H, W, 3] RGB."""
        ...


def mask_person(
    segmentation: Segmentation, image: NDArray[np.uint8], picture: Box, landmarks: NDArray[np.floating]
) -> NDArray[np.float32]:
    """Probability 0..1 of a person, float32 [H, W], from a look at the picture and a nearer one at the head.

    The network sees 256 pixels a side. The whole picture tells it what is a person, the nearer view where the
    hair ends; what only one of them takes for a person, a window or a fence, comes out as doubtful.

    Args:
        segmentation: The network.
        image: uint8 [H, W, 3], RGB.
        picture: The part of it that is not bars; there is no person in bars.
        landmarks: [478, 2 or 3], the mesh of the face whose head it is, pixels.
    """
    mask = np.zeros(image.shape[:2], np.float32)
    mask[picture.inside] = segmentation.mask(np.ascontiguousarray(image[picture.inside]))
    box = _surroundings(landmarks[:, :2], picture)
    near = segmentation.mask(np.ascontiguousarray(image[box.inside]))
    weight = _NEARER * np.outer(
        _ramp(box.height, box.top > picture.top, box.bottom < picture.bottom),
        _ramp(box.width, box.left > picture.left, box.right < picture.right),
    )
    region = mask[box.inside]
    region *= (near.clip(_LEAST, 1) / region.clip(_LEAST, 1)) ** weight.astype(np.float32)
    return mask


def _surroundings(face: NDArray[np.floating], picture: Box) -> Box:
    """A square around the face, 2.4 times its height, as far as the picture reaches."""
    low, high = face.min(axis=0), face.max(axis=0)
    x, y = (low + high) / 2
    reach = 1.2 * float((high - low).max())
    return Box(
        left=max(int(x - reach), picture.left),
        top=max(int(y - reach), picture.top),
        right=min(int(x + reach) + 1, picture.right),
        bottom=min(int(y + reach) + 1, picture.bottom),
    )


def _ramp(length: int, rises: bool, falls: bool) -> NDArray[np.float64]:
    """1, falling to 0 over a tenth of `length` at the ends that lie inside the picture."""
    room = np.arange(0.5, length)
    ramp = np.ones(length)
    if rises:
        ramp = np.minimum(ramp, room / (_FADE * length))
    if falls:
        ramp = np.minimum(ramp, room[::-1] / (_FADE * length))
    return ramp


def person_of_cutout(cutout: NDArray[np.uint8], picture: Box) -> NDArray[np.float32] | None:
    """Person 0..1, float32 [H, W], of a cut-out [H, W, 4]; None where its opacity does not tell a person.

    Looked at is the part `picture`, without bars. An evenly transparent picture has nothing cut away.
    """
    opacity = cutout[..., 3]
    most = max(int(opacity.max()), 1)
    if (opacity[picture.inside] < most / 2).mean() < _CUT_AWAY:
        return None
    return opacity.astype(np.float32) / np.float32(most)


class PersonMasker:
    """The segmentation network; one CPU thread, not to be shared between threads."""

    def __init__(self) -> None:
        """Loads the network from the embedded assets."""
        self._network = load_network("landmarks/selfie_segmentation.tflite")

    def mask(self, image: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Probability 0..1 of a person, float32 [H, W], for uint8 [H, W, 3] RGB."""
        height, width = image.shape[:2]
        square = cv2.resize(image, (NETWORK_SIDE, NETWORK_SIDE), interpolation=cv2.INTER_AREA)
        probability = run_network(self._network, (square / np.float32(255)).astype(np.float32)[None])[0]
        resized = cv2.resize(probability[0, :, :, 0], (width, height), interpolation=cv2.INTER_LINEAR)
        return np.asarray(resized, np.float32).clip(0, 1)
