"""Pictures of a face over a whole video, kept while it passes by."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.strip import crop_around
from avatar_cli.families.portrait.landmarks import FACE_OVAL, LIPS
from avatar_cli.media.decoding import Image

FEWEST = 12  # pictures kept of a video that has as many frames; at most twice as many
_FACE_SIDE, _MOUTH_SIDE = 150, 110  # pixels
_FACE_MARGIN, _MOUTH_MARGIN = 1.25, 1.5


@dataclass(frozen=True)
class Snapshot:
    """A face and its mouth, square crops of one frame."""

    frame: int
    face: Image
    mouth: Image


class StripWatcher:
    """Keeps every n-th frame's face; n doubles whenever there are too many, so the memory is constant."""

    def __init__(self) -> None:
        self._every = 1
        self._kept: list[Snapshot] = []

    def see(self, index: int, frame: Image, landmarks: NDArray[np.floating]) -> None:
        """One frame and its mesh in pixels."""
        if index % self._every:
            return
        face = crop_around(frame, landmarks[list(FACE_OVAL), :2], _FACE_MARGIN)
        mouth = crop_around(frame, landmarks[list(LIPS), :2], _MOUTH_MARGIN)
        self._kept.append(Snapshot(index, _scaled(face, _FACE_SIDE), _scaled(mouth, _MOUTH_SIDE)))
        if len(self._kept) >= 2 * FEWEST:
            self._every *= 2
            self._kept = self._kept[::2]

    @property
    def snapshots(self) -> list[Snapshot]:
        """Evenly spread over the video, from its first frame on."""
        return self._kept


def side_by_side(
    first: Sequence[Snapshot], second: Sequence[Snapshot], lag: int
) -> list[tuple[Snapshot, Snapshot | None]]:
    """Each picture of `first` with that of `second` nearest to `lag` frames before it."""
    pairs = []
    for snapshot in first:
        nearest = min(second, key=lambda other: abs(other.frame + lag - snapshot.frame), default=None)
        pairs.append((snapshot, nearest))
    return pairs


def _scaled(image: Image, side: int) -> Image:
    smaller = side < image.shape[0]
    interpolation = cv2.INTER_AREA if smaller else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(image, (side, side), interpolation=interpolation), np.uint8)
