"""One more sight of the person, from a reference video."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.geometry import Pose


@dataclass(frozen=True)
class FaceView:
    """A frame that shows what the reference picture does not: an open mouth, or closed lids.

    Attributes:
        image: uint8 [h, w, 3], RGB, the frame around the face, as large as in the source.
        landmarks: float32 [478, 3], the mesh on `image`, pixels.
        pose: Head pose on `image`; its scale is pixels per e.
        canonical: float32 [478, 3], the mesh without its pose, e.
    """

    image: NDArray[np.uint8]
    landmarks: NDArray[np.float32]
    pose: Pose
    canonical: NDArray[np.float32]
