"""Pictures with an opacity, and what is seen where they lie over a scene.

Colours are premultiplied: each is times its opacity already (Porter and Duff, "Compositing Digital Images",
1984). Such pictures may be scaled, warped and blended like any other. With plain colours, whatever a file
holds under its transparent pixels would bleed into the edge of the person.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]


def premultiplied(colours: Pixels, opacity: Pixels) -> Pixels:
    """RGBA [H, W, 4] of plain `colours` [H, W, 3] and `opacity` [H, W]."""
    picture = np.empty((*opacity.shape, 4), np.uint8)
    picture[..., :3] = scaled_by(colours, opacity)
    picture[..., 3] = opacity
    return picture


def plain_colours(picture: Pixels) -> Pixels:
    """The colours [H, W, 3] of a premultiplied `picture` [H, W, 4], opaque; black where it is transparent."""
    opacity = np.maximum(picture[..., 3:], 1).astype(np.float32)
    colours = np.round(picture[..., :3] * (np.float32(255) / opacity))
    return np.minimum(colours, 255).astype(np.uint8)


def composite(picture: Pixels, scene: Pixels, frame: Pixels) -> None:
    """Write a premultiplied `picture` [h, w, 4] over `scene` [h, w, 3] into `frame` [h, w, 3].

    `scene` and `frame` may be the same.
    """
    transparency = np.asarray(cv2.bitwise_not(cv2.extractChannel(picture, 3)), np.uint8)
    shining_through = scaled_by(scene, transparency)
    cv2.cvtColor(picture, cv2.COLOR_RGBA2RGB, dst=frame)
    cv2.add(frame, shining_through, dst=frame)


def without_overshoot(picture: NDArray[np.float32]) -> Pixels:
    """A premultiplied float32 [H, W, 4] as uint8, after cubic interpolation has overshot beside its edges.

    Colours go back as far as their opacity does. Cut off on their own, they would leave a bright line there.
    """
    opacity = picture[..., 3:]
    within = picture * (np.float32(255) / np.maximum(opacity, np.float32(255)))
    return np.round(np.clip(within, 0, np.clip(opacity, 0, 255))).astype(np.uint8)


def scaled_by(colours: Pixels, opacity: Pixels) -> Pixels:
    """The product of both, as shares of 255; no product lies half way between two values."""
    return np.asarray(
        cv2.multiply(colours, cv2.cvtColor(opacity, cv2.COLOR_GRAY2RGB), scale=1 / 255), np.uint8
    )
