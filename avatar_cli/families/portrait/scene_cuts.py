"""Where one frame of a video and the next are of different shots."""

import cv2
import numpy as np
from numpy.typing import NDArray

# Mean difference of two frames 80 ms apart, of 255: people who move their arms reach 6.4, a cut that leaves
# all but the person's posture makes 9.5, one to another person 10 and more.
_CUT = 8.0
_SIDE = 32  # pixels of what frames are compared at
_SAMPLES = 3  # of each of them, in both directions


class CutFinder:
    """Compares each frame with the one before. A dissolve is not noticed."""

    def __init__(self) -> None:
        self._before: NDArray[np.int16] | None = None

    def is_cut(self, pixels: NDArray[np.uint8]) -> bool:
        """Whether the next frame, uint8 [H, W, 3], begins another shot than the one before; not the first."""
        side = _SIDE * _SAMPLES
        samples = cv2.resize(pixels, (side, side), interpolation=cv2.INTER_NEAREST)
        small = cv2.resize(samples, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA).astype(np.int16)
        before, self._before = self._before, small
        return before is not None and float(np.abs(small - before).mean()) >= _CUT
