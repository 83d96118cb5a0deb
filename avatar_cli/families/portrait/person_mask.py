"""Which pixels of a picture show a person: the cut-out tells, or MediaPipe's selfie segmentation network."""

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.tflite import load_network, run_network

NETWORK_SIDE = 256
# More than this is cut away from a picture whose transparency follows a person. A disc leaves 0.21 of its
# square transparent: such a picture has a frame, and a background of its own.
_CUT_AWAY = 0.25


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
