"""Which pixels of a picture show a person, by MediaPipe's selfie segmentation network."""

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.tflite import load_network

NETWORK_SIDE = 256


class PersonMasker:
    """The segmentation network; one CPU thread, not to be shared between threads."""

    def __init__(self) -> None:
        """Loads the network from the embedded assets."""
        self._network = load_network("landmarks/selfie_segmentation.tflite")

    def mask(self, image: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Probability 0..1 of a person, float32 [H, W], for uint8 [H, W, 3] RGB."""
        height, width = image.shape[:2]
        square = cv2.resize(image, (NETWORK_SIDE, NETWORK_SIDE), interpolation=cv2.INTER_AREA)
        self._network.set_tensor(
            self._network.get_input_details()[0]["index"], (square / np.float32(255)).astype(np.float32)[None]
        )
        self._network.invoke()
        probability = self._network.get_tensor(self._network.get_output_details()[0]["index"])[0, :, :, 0]
        resized = cv2.resize(probability, (width, height), interpolation=cv2.INTER_LINEAR)
        return np.asarray(resized, np.float32).clip(0, 1)
