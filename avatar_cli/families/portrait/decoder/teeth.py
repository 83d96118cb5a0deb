"""Drawn rows of teeth for photos that show none, in the colours of the photo."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.decoder.masks import blend
from avatar_cli.families.portrait.decoder.sampling import warp_affine
from avatar_cli.families.portrait.decoder.spline import smoothstep
from avatar_cli.families.portrait.geometry import Pose

STANDARD_MOUTH = 0.52  # e: mouth width the sizes below were taken for
_HALF_WIDTH = 0.42  # e, half the texture
_HEIGHT = 0.24  # e, whole texture
# Right half of each row: outer edge of each tooth from the middle line and its height, e.
_UPPER = ((0.082, 0.108), (0.146, 0.099), (0.212, 0.106), (0.270, 0.092), (0.320, 0.080))
_LOWER = ((0.050, 0.085), (0.105, 0.087), (0.163, 0.088), (0.220, 0.080))
_LOWER_SHADE = 0.66
_NECK_OF_UPPER = 0.02  # e from the top of the texture


@dataclass(frozen=True)
class FrontPart:
    """A part of the mouth's inside, such as a row of teeth, seen from the front.

    Attributes:
        texture: uint8 [h, w, 4], RGB and coverage.
        density: texture px of 1 e.
        edge: row of what is placed, the biting edge of front teeth, texture px.
    """

    texture: NDArray[np.uint8]
    density: float
    edge: float

    def draw(
        self,
        below: NDArray[np.uint8],
        origin: NDArray[np.floating],
        pose: Pose,
        edge_at: NDArray[np.floating],
    ) -> NDArray[np.uint8]:
        """`below` [h, w, 4], whose top left pixel is `origin`, the part's edge at canonical `edge_at`."""
        scale = pose.scale / self.density
        across = pose.rotation[:2, 0] * scale
        down = pose.rotation[:2, 1] * scale
        middle = self.texture.shape[1] / 2
        start = pose.to_pixels(edge_at)[:2] - origin - across * middle - down * self.edge
        transform = np.stack([across, down, start], axis=1)
        placed = warp_affine(self.texture, transform, below.shape[1], below.shape[0])
        return blend(below, placed, placed[..., 3])


def upper_row(colour: NDArray[np.floating], mouth_width: float, density: float) -> FrontPart:
    """Upper teeth; `mouth_width` in e, `density` texture px a e."""
    size = mouth_width / STANDARD_MOUTH
    texture = _row(_UPPER, colour, size, density, shade=1.0)
    return FrontPart(texture, density, (_NECK_OF_UPPER + _UPPER[0][1] * size) * density)


def lower_row(colour: NDArray[np.floating], mouth_width: float, density: float) -> FrontPart:
    """Lower teeth, darker because the upper lip shades them."""
    size = mouth_width / STANDARD_MOUTH
    texture = _row(_LOWER, colour, size, density, shade=_LOWER_SHADE)[::-1].copy()
    return FrontPart(texture, density, len(texture) - (_NECK_OF_UPPER + _LOWER[0][1] * size) * density)


def _row(
    teeth: tuple[tuple[float, float], ...],
    colour: NDArray[np.floating],
    size: float,
    density: float,
    shade: float,
) -> NDArray[np.uint8]:
    columns, rows = int(2 * _HALF_WIDTH * density), int(_HEIGHT * density)
    x = np.abs((np.arange(columns) + 0.5) / density - columns / (2 * density))[None, :]
    y = ((np.arange(rows) + 0.5) / density - _NECK_OF_UPPER)[:, None]
    colours = np.zeros((rows, columns, 3))
    alpha = np.zeros((rows, columns))
    inner = 0.0
    for outer, height in teeth:
        left, right, tall = inner * size, outer * size, height * size
        middle, half = (left + right) / 2, (right - left) / 2
        across = (x - middle) / half
        # A biting edge is flat in the middle and rounds off at the corners of the tooth.
        edge = tall * (1 - 0.06 * np.abs(across) ** 4)
        # Neighbours touch: what is dark between them is a narrow line, deeper only towards the edge.
        cover = np.clip((1 - np.abs(across)) * half * density + 0.42, 0, 1)
        cover = cover * np.clip((edge - y) * density / 1.2 + 0.5, 0, 1)
        along = np.clip(y / tall, 0, 1)
        body = (1 - 0.16 * np.abs(across) ** 4) * (0.92 + 0.08 * np.clip(2.2 * along, 0, 1))
        body = body * (1 - 0.12 * smoothstep(0.75, 1.0, along))
        # Teeth beside the front ones stand deeper in the arch and get less light.
        arch = max(0.30, 1 - 0.95 * (middle / (0.36 * size)) ** 2)
        inside = cover > alpha
        colours[inside] = (body * arch * shade)[inside, None] * colour
        alpha = np.maximum(alpha, cover)
        inner = outer + 0.001
    sigma = max(0.6, 0.010 * density)
    premultiplied = np.dstack([colours * alpha[..., None], alpha]).astype(np.float32)
    soft = cv2.GaussianBlur(premultiplied, (0, 0), sigma)
    # Outside the teeth their colour goes on: scaling then draws no dark rim.
    continued = soft + 0.01 * cv2.GaussianBlur(premultiplied, (0, 0), 4 * sigma)
    texture = np.empty((rows, columns, 4), np.uint8)
    texture[..., :3] = np.clip(continued[..., :3] / np.maximum(continued[..., 3:], 1e-6), 0, 255)
    texture[..., 3] = np.round(255 * soft[..., 3])
    return texture
