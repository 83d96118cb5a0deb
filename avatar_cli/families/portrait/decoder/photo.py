"""The photo as frames are drawn from it: refined, so that it stays sharp as it moves."""

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.compositing import without_overshoot
from avatar_cli.families.portrait.decoder.sampling import Pixels, sample

# px of the moving part: beyond it, drawing from the refined photo would cost the frame rate. Faces that large
# are mostly enlarged by the canvas and have no finer detail to lose.
_LARGEST_REFINED = 600_000
# Cubic convolution half way between two pixels (Keys 1981, a = -1/2).
_HALF_WAY = np.array([-1, 9, 9, -1], np.float32) / np.float32(16)
_AS_IT_IS = np.ones(1, np.float32)


def density_for(moving: Box) -> int:
    """Samples to a pixel for a photo of which the part `moving` is redrawn in every frame: 1 or 2."""
    return 2 if moving.width * moving.height <= _LARGEST_REFINED else 1


class RefinedImage:
    """An image drawn bilinearly, from twice its own density where that is affordable.

    Plain bilinear drawing blurs by how far a pixel moved: a head that sways turns soft and sharp again. Of
    the refined photo every second sample is a pixel of its own, so an unmoved pixel stays exact; the samples
    between are made once, by cubic interpolation. Cubic drawing in every frame would take seven times as
    long.
    """

    def __init__(
        self, image: Pixels, density: int, moving: Box | None = None, face_is_opaque: bool = False
    ) -> None:
        """Refine an image to `density` (1 or 2) samples a pixel.

        Args:
            image: uint8, RGB [H, W, 3] or premultiplied RGBA [H, W, 4].
            density: Samples a pixel.
            moving: The part that is refined, if not all of it.
            face_is_opaque: Whether of an image with opacity only the outline is soft.
        """
        self.density = density
        self.has_opacity = image.shape[2] == 4
        self.is_cutout = self.has_opacity and not face_is_opaque
        # Four channels are drawn in less than half the time of three.
        pixels = image if self.has_opacity else np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2RGBA), np.uint8)
        moving = moving or Box(0, 0, image.shape[1], image.shape[0])
        self._samples = pixels if density == 1 else self._refined(pixels, moving)

    def draw(self, positions: NDArray[np.float32], into: Pixels | None = None) -> Pixels:
        """Premultiplied RGBA [h, w, 4] at positions [h, w, 2] (x, y), in samples.

        It is written `into` an array, if one is given.
        Beyond its border the photo is mirrored: hair and walls go on so, where the last row would be drawn
        out into streaks.
        """
        return sample(self._samples, positions, cv2.BORDER_REFLECT_101, into)

    def _refined(self, pixels: Pixels, region: Box) -> Pixels:
        rows, columns = pixels.shape[:2]
        samples = np.zeros((2 * rows, 2 * columns, 4), np.uint8)
        samples[::2, ::2] = pixels
        part = samples[2 * region.top : 2 * region.bottom, 2 * region.left : 2 * region.right]
        part[::2, 1::2] = self._filtered(part[::2, ::2], _HALF_WAY, _AS_IT_IS)
        part[1::2] = self._filtered(part[::2], _AS_IT_IS, _HALF_WAY)
        return samples

    def _filtered(self, pixels: Pixels, along: NDArray[np.float32], down: NDArray[np.float32]) -> Pixels:
        """Correlation with two kernels; one of four taps is centred half a sample ahead."""
        anchor = ((len(along) - 1) // 2, (len(down) - 1) // 2)
        contiguous = np.ascontiguousarray(pixels)

        def filtered(depth: int) -> NDArray[np.generic]:
            return cv2.sepFilter2D(
                contiguous, depth, along, down, anchor=anchor, borderType=cv2.BORDER_REPLICATE
            )

        result = np.asarray(filtered(-1), np.uint8)
        if self.has_opacity:
            exact = np.asarray(filtered(cv2.CV_32F), np.float32)
            soft = (exact[..., 3] != 0) & (exact[..., 3] != 255)
            result[soft] = without_overshoot(exact[soft])
        return result
