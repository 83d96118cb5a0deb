"""The light a photo was taken in, told from its skin and from the white of its eyes."""

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.landmarks import FACE_OVAL, LEFT_EYE, RIGHT_EYE, Eye

Colour = NDArray[np.float64]  # [3], RGB, 0..255

_CHEEKS = (50, 280, 205, 425, 101, 330)
_LIPS = (11, 12, 15, 16, 37, 267, 84, 314)
_LID_EDGE = 0.012  # e: lashes and their shadow
_IRIS_ROOM = 1.15  # iris radii
_FEWEST = 12  # px of white in both eyes
_BRIGHTEST = 70  # percentile of the white: the rest lies in the shadow of the lids
# Measured on smiling photos: teeth are as the white of the eyes, a little warmer. Behind lips that hardly
# part they get some of their light from the skin.
_WARMTH = np.array([1.0, 0.99, 0.95])
_FROM_SKIN = 0.15
# How far towards white teeth are from the skin where the eyes do not tell.
_TOWARDS_WHITE = np.array([1.0, 0.62, 0.56])
_LIGHTEST = 97  # percentile


def skin_colour(image: NDArray[np.uint8], points: NDArray[np.floating]) -> Colour:
    """Median of six places on the cheeks of uint8 [H, W, 3]; `points` [478, 2], px."""
    return np.asarray(np.median([_mean_around(image, points[index], 3) for index in _CHEEKS], axis=0))


def lip_colour(image: NDArray[np.uint8], points: NDArray[np.floating]) -> Colour:
    """Mean of eight places on the lips of uint8 [H, W, 3]; `points` [478, 2], px."""
    return np.asarray(np.mean([_mean_around(image, points[index], 0) for index in _LIPS], axis=0))


def tooth_colour(image: NDArray[np.uint8], points: NDArray[np.floating], eye_distance: float) -> Colour:
    """RGB of front teeth in the light of the photo.

    Their red is that of the skin, higher on dark skin; measured on smiling photos. Green and blue are in
    proportion as in the white of the eyes. Where that is too small, bloodshot or behind tinted glasses, they
    lie between the skin and white, but never beyond the least coloured light places of the face: in a
    painting under old varnish white teeth would look blue.

    Args:
        image: uint8 [H, W, 3], RGB.
        points: [478, 2], px.
        eye_distance: px of 1 e.
    """
    skin = skin_colour(image, points) + 1e-3
    luma = float(np.dot(skin, (0.299, 0.587, 0.114)))
    red = max(skin[0], luma)
    bright = min(245.0, red * (1 + 0.5 * max(0.0, 1 - red / 210)))
    of_skin = np.minimum(skin / skin[0], 1.0)
    white = _eye_white(image, points, eye_distance)
    of_white = of_skin if white is None else np.minimum(white / white[0], 1.0)
    if (of_white[1:] > of_skin[1:] + 0.35 * (1 - of_skin[1:])).all():
        return bright * (of_white * _WARMTH * (1 - _FROM_SKIN) + of_skin * _FROM_SKIN)
    between = of_skin + _TOWARDS_WHITE * (1 - of_skin)
    return bright * np.minimum(between, _least_coloured(image, points, luma)) * _WARMTH


def _eye_white(image: NDArray[np.uint8], points: NDArray[np.floating], eye_distance: float) -> Colour | None:
    """Colour of the better lit white of both eyes, None where hardly any is seen."""
    white = np.concatenate([_white_of(image, points, eye_distance, eye) for eye in (LEFT_EYE, RIGHT_EYE)])
    if len(white) < _FEWEST:
        return None
    lit = white[:, 1] >= np.percentile(white[:, 1], _BRIGHTEST)
    return np.asarray(np.median(white[lit], axis=0)) + 1e-3


def _white_of(
    image: NDArray[np.uint8], points: NDArray[np.floating], eye_distance: float, eye: Eye
) -> NDArray[np.uint8]:
    """Pixels [N, 3] of one eye's opening beside its iris."""
    mask = np.zeros(image.shape[:2], np.uint8)
    outline = points[list(eye.upper_lid + eye.lower_lid[::-1])]
    cv2.fillPoly(mask, [np.round(outline).astype(np.int32)], (1,))
    size = 2 * max(1, round(_LID_EDGE * eye_distance)) + 1
    mask = np.asarray(cv2.erode(mask, np.ones((size, size), np.uint8)), np.uint8)
    centre, *rim = points[list(eye.iris)]
    radius = float(np.linalg.norm(np.array(rim) - centre, axis=1).mean())
    x, y = np.round(centre).astype(int)
    cv2.circle(mask, (int(x), int(y)), round(_IRIS_ROOM * radius), (0,), -1)
    return image[mask > 0]


def _least_coloured(image: NDArray[np.uint8], points: NDArray[np.floating], luma: float) -> Colour:
    """Highest share of green and blue to red over the light places of the face, [3]; at most 1."""
    mask = np.zeros(image.shape[:2], np.uint8)
    cv2.fillPoly(mask, [np.round(points[list(FACE_OVAL)]).astype(np.int32)], (1,))
    pixels = image[mask > 0].astype(np.float64)
    light = pixels[pixels @ (0.299, 0.587, 0.114) > luma]
    if len(light) == 0:
        return np.ones(3)
    shares = np.percentile(light / np.maximum(light[:, :1], 1.0), _LIGHTEST, axis=0)
    return np.asarray(np.minimum(shares, 1.0))


def _mean_around(image: NDArray[np.uint8], place: NDArray[np.floating], radius: int) -> Colour:
    rows, columns = image.shape[:2]
    x, y = np.clip(np.round(place).astype(int), radius, [columns - 1 - radius, rows - 1 - radius])
    part = image[y - radius : y + radius + 1, x - radius : x + radius + 1]
    return np.asarray(part.reshape(-1, 3).mean(axis=0), np.float64)
