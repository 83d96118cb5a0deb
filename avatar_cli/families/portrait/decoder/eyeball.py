"""The eyeball of one photo: what lids uncover that open wider, and where a gaze that turns finds white."""

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.compositing import premultiplied
from avatar_cli.families.portrait.decoder.face_frame import FaceFrame
from avatar_cli.families.portrait.decoder.masks import polygon_mask
from avatar_cli.families.portrait.decoder.photo import Photo
from avatar_cli.families.portrait.landmarks import Eye

_LASHES = 0.012  # e: the lids' soft edge and lashes in front of the eyeball
_CONTINUED = 0.06  # e beyond the lids
_GAZE_REACH = 1.75  # iris radii
_FEWEST = 12  # px of eyeball below which nothing can be continued


class Eyeball:
    """The photo's own eyeball, continued under the lids."""

    def __init__(self, face: FaceFrame, eye: Eye, density: int) -> None:
        """Take the eyeball of `eye` from the photo; it is drawn from `density` samples a pixel."""
        unit = face.eye_distance
        iris = face.points[list(eye.iris)]
        self._iris = iris[0].astype(np.float32)
        self._iris_radius = float(np.linalg.norm(iris[1:] - iris[0], axis=1).mean())
        self._right, self._down = face.right, face.down
        outline = face.points[list(eye.upper_lid + eye.lower_lid[::-1])]
        rows, columns = face.image.shape[:2]
        room = int(_CONTINUED * unit) + 3
        left, top = np.maximum(np.floor(outline.min(axis=0)).astype(int) - room, 0)
        right, bottom = np.minimum(np.ceil(outline.max(axis=0)).astype(int) + room + 1, [columns, rows])
        box = Box(int(left), int(top), int(right), int(bottom))
        source = np.ascontiguousarray(face.image[box.inside])
        mask = polygon_mask(outline - box.origin, box.height, box.width)
        size = 2 * max(1, round(_LASHES * unit)) + 1
        hidden = np.asarray(cv2.erode(mask, np.ones((size, size), np.uint8)), np.uint8) < 128
        if np.count_nonzero(~hidden) > _FEWEST:
            source = np.asarray(cv2.inpaint(source, hidden.astype(np.uint8), 3, cv2.INPAINT_TELEA), np.uint8)
        self._origin = box.origin * density
        self._density = density
        self._patch = Photo(source, density)

    def draw(
        self, source: NDArray[np.float32], gaze: tuple[float, float], opacity: NDArray[np.uint8]
    ) -> NDArray[np.uint8]:
        """Premultiplied RGBA [h, w, 4] of the eyeball at positions `source` [h, w, 2], in samples.

        Args:
            source: Where each pixel is taken from while the gaze rests.
            gaze: Shift of the iris to the right and down, iris radii; it fades before the corners of the eye.
            opacity: uint8 [h, w], of the person there.
        """
        across, down = gaze
        positions = source - self._origin
        if across != 0.0 or down != 0.0:
            shift = (self._iris_radius * (across * self._right + down * self._down)).astype(np.float32)
            from_iris = source * np.float32(1 / self._density) - (self._iris + shift)
            reach = np.float32(1 / (_GAZE_REACH * self._iris_radius) ** 2)
            squared = (from_iris * from_iris).sum(axis=-1) * reach
            positions = positions - self._density * shift * np.exp(-squared * squared)[..., None]
        drawn = self._patch.draw(positions)
        if opacity.min() == 255:
            return drawn
        return premultiplied(drawn[..., :3].copy(), opacity)
