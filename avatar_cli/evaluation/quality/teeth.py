"""Does the inside of the mouth look the same at the end of a video as at its beginning?"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.quality.drift import WINDOW, ends
from avatar_cli.families.portrait.landmarks import INNER_LOWER_LIP, INNER_UPPER_LIP, OUTER_EYE_CORNERS
from avatar_cli.media.decoding import Image

Floats = NDArray[np.float32]

EVERY = 5  # frames
_WIDTH, _HEIGHT = 96, 64  # pixels of a crop
_PIXELS_PER_EYE_DISTANCE = 130.0
_LOWEST_OPENING = 0.05  # of the eyes' distance: below it there is nothing to compare
_OPENING_TOLERANCE, _WIDTH_TOLERANCE = (
    0.012,
    0.03,
)  # of the eyes' distance, between two mouths that are compared
_MOST_PAIRS = 40
_FAR_APART = 75  # frames, between two pictures of the same minute
_SHIFTS = 3  # pixels that a crop may be moved to fit the other, since heads turn
_SMALLEST_AREA = 60  # pixels that both mouths show


@dataclass(frozen=True)
class Mouth:
    """An open mouth.

    Attributes:
        frame: Its number.
        opening: Gap between the inner lips in the picture, of the eyes' distance.
        width: Distance of the inner corners, of the eyes' distance.
        luma: uint8 [64, 96], upright around the middle of the mouth, 130 pixels to the eyes' distance.
        inside: bool [64, 96], between the inner lips.
    """

    frame: int
    opening: float
    width: float
    luma: NDArray[np.uint8]
    inside: NDArray[np.bool_]


class TeethWatcher:
    """Keeps the open mouths of the first and of the last minute."""

    def __init__(self) -> None:
        self._first: list[Mouth] = []
        self._last: deque[Mouth] = deque()
        self._frames = 0

    def see(self, index: int, frame: Image, landmarks: Floats) -> None:
        """One frame and its mesh in pixels."""
        self._frames = index + 1
        if index % EVERY:
            return
        while self._last and self._last[0].frame <= index - WINDOW:
            self._last.popleft()
        mouth = mouth_of(index, frame, landmarks)
        if mouth is None:
            return
        if index < WINDOW:
            self._first.append(mouth)
        self._last.append(mouth)

    def minutes(self) -> tuple[list[Mouth], list[Mouth]]:
        """Open mouths of the first and of the last minute (or third), see `drift.ends`."""
        first, last = ends(self._frames)
        return (
            [mouth for mouth in self._first if mouth.frame < first.stop],
            [mouth for mouth in self._last if mouth.frame >= last.start],
        )


def mouth_of(index: int, frame: Image, landmarks: Floats) -> Mouth | None:
    """The mouth of a frame, or None where it is nearly closed."""
    first, last = OUTER_EYE_CORNERS
    across = landmarks[last, :2] - landmarks[first, :2]
    unit = float(np.linalg.norm(across))
    lips = [landmarks[list(ring), :2] for ring in (INNER_UPPER_LIP, INNER_LOWER_LIP)]
    turn = (
        np.array([[across[0], across[1]], [-across[1], across[0]]]) / unit * (_PIXELS_PER_EYE_DISTANCE / unit)
    )
    centre = np.concatenate(lips).mean(axis=0)
    shift = np.array([_WIDTH / 2, _HEIGHT / 2]) - turn @ centre
    upper, lower = (ring @ turn.T + shift for ring in lips)
    opening = float((lower - upper)[3:8, 1].mean()) / _PIXELS_PER_EYE_DISTANCE
    if opening < _LOWEST_OPENING:
        return None
    affine = np.column_stack([turn, shift])
    crop = cv2.warpAffine(
        frame, affine, (_WIDTH, _HEIGHT), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    inside = np.zeros((_HEIGHT, _WIDTH), np.uint8)
    outline = np.concatenate([upper, lower[::-1]])
    cv2.fillPoly(inside, [np.round(outline).astype(np.int32)], 1)
    width = float(upper[-1, 0] - upper[0, 0]) / _PIXELS_PER_EYE_DISTANCE
    luma = np.asarray(cv2.cvtColor(crop, cv2.COLOR_RGB2GRAY), np.uint8)
    return Mouth(index, opening, width, luma, inside.astype(bool))


def teeth_similarity(first: Sequence[Mouth], last: Sequence[Mouth], apart: int = 0) -> float | None:
    """Mean structural similarity of the inside of the mouth over pairs of equal opening and width.

    Args:
        first: Mouths of one stretch of the video.
        last: Those of another; each is compared with the most alike in opening and width of `first`.
        apart: Frames that must lie between two mouths, to compare a stretch with itself.

    Returns:
        -1..1, 1 for identical mouths; None where no two mouths are equally open.
    """
    pairs = [pair for mouth in last if (pair := _most_alike(mouth, first, apart)) is not None]
    pairs.sort(key=lambda pair: _difference(*pair))
    values = [value for pair in pairs[:_MOST_PAIRS] if (value := _best_similarity(*pair)) is not None]
    return float(np.mean(values)) if values else None


def teeth_figures(minutes: tuple[Sequence[Mouth], Sequence[Mouth]]) -> tuple[float | None, float | None]:
    """Similarity of the last minute with the first, and of the first with itself: as good as it gets."""
    first, last = minutes
    return teeth_similarity(first, last), teeth_similarity(first, first, _FAR_APART)


def structural_similarity(first: NDArray, second: NDArray) -> NDArray[np.float32]:
    """SSIM map of two luma pictures [H, W], 0..255 (Wang, Bovik, Sheikh and Simoncelli 2004), -1..1."""
    x, y = first.astype(np.float32), second.astype(np.float32)
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2

    def mean(image: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray(cv2.GaussianBlur(image, (11, 11), 1.5))

    mx, my = mean(x), mean(y)
    vx, vy, cov = mean(x * x) - mx * mx, mean(y * y) - my * my, mean(x * y) - mx * my
    return np.asarray(
        (2 * mx * my + c1) * (2 * cov + c2) / ((mx * mx + my * my + c1) * (vx + vy + c2)), np.float32
    )


def _most_alike(mouth: Mouth, others: Sequence[Mouth], apart: int) -> tuple[Mouth, Mouth] | None:
    close = [
        other
        for other in others
        if abs(other.frame - mouth.frame) >= apart
        and other is not mouth
        and abs(other.opening - mouth.opening) < _OPENING_TOLERANCE
        and abs(other.width - mouth.width) < _WIDTH_TOLERANCE
    ]
    return (mouth, min(close, key=lambda other: _difference(mouth, other))) if close else None


def _difference(first: Mouth, second: Mouth) -> float:
    return (
        abs(first.opening - second.opening) / _OPENING_TOLERANCE
        + abs(first.width - second.width) / _WIDTH_TOLERANCE
    )


def _best_similarity(first: Mouth, second: Mouth) -> float | None:
    """Over small vertical and horizontal shifts of the second; None where the two share too few pixels."""
    values = []
    for down in range(-_SHIFTS, _SHIFTS + 1):
        for right in range(-_SHIFTS, _SHIFTS + 1):
            moved = np.roll(second.luma, (down, right), axis=(0, 1))
            both = first.inside & np.roll(second.inside, (down, right), axis=(0, 1))
            if both.sum() >= _SMALLEST_AREA:
                values.append(float(structural_similarity(first.luma, moved)[both].mean()))
    return max(values) if values else None
