"""Do the skin and the background keep their colour?"""

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.quality.drift import ends
from avatar_cli.families.portrait.landmarks import FACE_OVAL, OUTER_EYE_CORNERS
from avatar_cli.media.decoding import Image

Floats = NDArray[np.float32]

# Forehead and both cheeks, which neither speech nor blinks reach. A patch lies in the middle of its points,
# whose trembling averages out.
_SKIN = ((151, 9, 108, 337, 69, 299), (50, 101, 36, 205, 123, 118), (280, 330, 266, 425, 352, 347))
_PATCH = 0.25  # of the eyes' distance
_BESIDE = 1.0  # widths of the face from its middle, where the background begins
_FEWEST_PIXELS = 400


class ColourWatcher:
    """Keeps the mean colour of skin and background of every frame.

    The background is what lies beside the first frame's face by a face's width, above its chin.
    """

    def __init__(self) -> None:
        self._skin: list[Floats] = []
        self._background: list[Floats] = []
        self._beside: NDArray[np.bool_] | None = None
        self._side = 0

    def see(self, index: int, frame: Image, landmarks: Floats) -> None:
        """One frame and its mesh in pixels."""
        if self._beside is None:
            self._beside = beside_face(frame.shape[:2], landmarks)
            self._side = patch_side(landmarks)
        self._skin.append(skin_colour(frame, landmarks, self._side))
        if self._beside.sum() >= _FEWEST_PIXELS:
            self._background.append(frame[self._beside].mean(axis=0, dtype=np.float32))

    @property
    def skin(self) -> Floats:
        """Mean RGB of the skin, float32 [T, 3], 0..255."""
        return np.array(self._skin)

    @property
    def background(self) -> Floats | None:
        """Mean RGB of the background, float32 [T, 3], or None where the face leaves no room for one."""
        return np.array(self._background) if self._background else None


def skin_colour(frame: Image, landmarks: Floats, side: int) -> Floats:
    """Mean RGB of three patches of skin of `side` pixels, float32 [3], 0..255.

    Patches lie between pixels where the mesh does, so that its trembling is not taken for the skin's.
    """
    centres = landmarks[np.array(_SKIN), :2].mean(axis=1)
    patches = [
        cv2.getRectSubPix(frame, (side, side), (float(x), float(y)), patchType=cv2.CV_32F) for x, y in centres
    ]
    return np.stack(patches).mean(axis=(0, 1, 2), dtype=np.float32)


def patch_side(landmarks: Floats) -> int:
    """Pixels of a patch's side for a face of this size."""
    first, last = OUTER_EYE_CORNERS
    return max(3, round(_PATCH * float(np.linalg.norm(landmarks[last, :2] - landmarks[first, :2]))))


def beside_face(shape: tuple[int, ...], landmarks: Floats) -> NDArray[np.bool_]:
    """Pixels bool [H, W] at least a face's width from the face's middle and above its chin."""
    oval = landmarks[list(FACE_OVAL), :2]
    low, high = oval.min(axis=0), oval.max(axis=0)
    far = np.abs(np.arange(shape[1]) - (low[0] + high[0]) / 2) > _BESIDE * (high[0] - low[0])
    above = np.arange(shape[0]) < high[1]
    return np.asarray(above[:, None] & far)


def colour_change(colours: Floats) -> float:
    """CIE 1976 colour difference, Delta E*ab, between the mean colours of the first and the last minute.

    A difference of 1 can just be seen with both colours side by side; 2 to 3 is what one notices when asked.

    Args:
        colours: RGB, float32 [T, 3], 0..255.
    """
    first, last = ends(len(colours))
    means = np.stack([colours[first].mean(axis=0), colours[last].mean(axis=0)]).astype(np.float32)
    lab = cv2.cvtColor(means[None] / np.float32(255), cv2.COLOR_RGB2Lab)[0]
    return float(np.linalg.norm(lab[1] - lab[0]))
