"""One frame's head before its eyes and mouth are drawn."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.decoder.head_field import Part
from avatar_cli.families.portrait.decoder.photo import RefinedImage
from avatar_cli.families.portrait.geometry import Pose


@dataclass(frozen=True)
class WarpedHead:
    """The head carried by the common field.

    Attributes:
        photo: What it was drawn from.
        picture: uint8 [h, w, 4], premultiplied RGBA; eyes and mouth draw into it and keep its opacity.
        box: Where it lies on the canvas.
        parts: The parts of the box that hold this frame; the rest of `picture` and `source` is left over.
        displacement: float32, the common field at its own nodes, px.
        source: float32 [h, w, 2], canvas position from which every pixel was taken, in samples.
        pose: The frame's pose.
    """

    photo: RefinedImage
    picture: NDArray[np.uint8]
    box: Box
    parts: list[Part]
    displacement: NDArray[np.float32]
    source: NDArray[np.float32]
    pose: Pose
