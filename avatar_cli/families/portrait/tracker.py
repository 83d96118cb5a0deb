"""Finds every face of one picture and its mesh, however small or dark it is.

Each picture is treated on its own (MediaPipe's IMAGE mode): nothing is smoothed over time, so nothing lags.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.face_detector import (
    FULL_RANGE,
    SHORT_RANGE,
    Detection,
    FaceDetector,
    Window,
)
from avatar_cli.families.portrait.face_mesh import MIN_PRESENCE, Face, FaceMesher

Image = NDArray[np.uint8]  # [H, W, 3], RGB

# Search windows are halved down to this side, and no further than a quarter of the picture's shorter side.
MIN_WINDOW = 256
MOST_HALVINGS_OF_THE_SHORTER_SIDE = 2
MOST_WINDOWS = 500  # of one size; only pictures many times longer than wide have more
# A search looks at many windows, each of which may show a false face: it wants to be surer than the first
# look.
MIN_PRESENCE_IN_SEARCH = 0.95
# A mesh this sure is not looked for again; one from a coarse box that is less sure gives way to one that is.
SURE = 0.99999
TINY_SIDE, MOST_ENLARGEMENT = 256, 4
DARK_LEVEL = 64  # median of all samples, 0..255
BRIGHTENING_GAMMA = 0.6


class FaceTracker:
    """Two detectors and the mesh networks; one CPU thread, not to be shared between threads."""

    def __init__(self) -> None:
        """Loads the four networks from the embedded assets."""
        self._near = FaceDetector(SHORT_RANGE)
        self._far = FaceDetector(FULL_RANGE)
        self._mesher = FaceMesher()

    def detect(self, image: Image) -> list[Detection]:
        """Every box of the first look at uint8 [H, W, 3] RGB, largest first; some may not be faces."""
        return self._near.detect(image, [_whole(image)])

    def faces(self, image: Image, *, every: bool = False, search: bool = True) -> list[Face]:
        """The meshes of the faces of uint8 [H, W, 3] RGB, largest first.

        The first look is at the whole picture. Where it finds nothing, a search follows that ends with the
        first window size that shows a face.

        Args:
            image: The picture.
            every: Look for further faces also where the first network has found some.
            search: Search where the first look finds nothing.
        """
        faces = self._look(image, [_whole(image)], [], MIN_PRESENCE, every)
        if len(faces) > 1 and every:
            halves = next(_smaller_windows(*image.shape[:2]), [])
            faces = self._look(image, halves, faces, MIN_PRESENCE_IN_SEARCH, every)
        if not faces and search:
            faces = self._search(image, every)
        return sorted(faces, key=lambda face: face.extent, reverse=True)

    def track(self, image: Image) -> Face | None:
        """The mesh of the largest face of uint8 [H, W, 3] RGB, or None where there is none."""
        return next(iter(self.faces(image)), None)

    def follow(self, image: Image, before: Face) -> Face | None:
        """The mesh of the face that was `before` in the frame just before; None where it is not seen."""
        return self._mesher.follow(image, before)

    def _search(self, image: Image, every: bool) -> list[Face]:
        """The faces of a picture whose first look shows none, in a copy that is easier to see if need be."""
        clear, factor = _cleared(image)
        sizes = _smaller_windows(*clear.shape[:2])
        if clear is not image:
            sizes = chain([[_whole(clear)]], sizes)
        for windows in sizes:
            faces = self._look(clear, windows, [], MIN_PRESENCE_IN_SEARCH, every)
            if faces:
                return [_shrunk(face, factor) for face in faces]
        return []

    def _look(
        self, image: Image, windows: Sequence[Window], known: list[Face], min_presence: float, every: bool
    ) -> list[Face]:
        """The known faces and those in the windows; the second network looks if the first sees none."""
        faces = known
        for detector in (self._near, self._far):
            if every or not faces:
                faces = self._meshes(image, detector.detect(image, windows), faces, min_presence)
        return faces

    def _meshes(
        self, image: Image, detections: Iterable[Detection], known: list[Face], min_presence: float
    ) -> list[Face]:
        """The known faces and those of the detections, each once."""
        faces = list(known)
        for detection in detections:
            seen = _same(faces, detection.left, detection.top, detection.width, detection.height)
            if seen is not None and seen.presence >= SURE:
                continue
            face = self._mesher.mesh(image, detection)
            if face is None or face.presence < min_presence:
                continue
            seen = _same(faces, *_box(face))
            if seen is None:
                faces.append(face)
            elif seen.presence < SURE <= face.presence:
                faces = [face if other is seen else other for other in faces]
        return faces


def _whole(image: Image) -> Window:
    return Window(0, 0, max(image.shape[:2]))


def _smaller_windows(height: int, width: int) -> Iterator[list[Window]]:
    """Squares that overlap by half, ever smaller: half of the longer side, a quarter, ..."""
    smallest = max(MIN_WINDOW, min(height, width) // 2**MOST_HALVINGS_OF_THE_SHORTER_SIDE)
    side = max(height, width) // 2
    while side >= smallest:
        lefts, tops = _starts(width, side), _starts(height, side)
        if len(lefts) * len(tops) > MOST_WINDOWS:
            return
        yield [Window(left, top, side) for top in tops for left in lefts]
        side //= 2


def _starts(length: int, side: int) -> list[int]:
    if length <= side:
        return [0]
    count = math.ceil((length - side) / (side / 2)) + 1
    return [round(start) for start in np.linspace(0, length - side, count)]


def _cleared(image: Image) -> tuple[Image, float]:
    """The picture, enlarged if it is tiny and brightened if it is dark, and the factor of enlargement."""
    factor = min(MOST_ENLARGEMENT, TINY_SIDE / max(image.shape[:2]))
    if factor > 1:
        enlarged = cv2.resize(image, None, fx=factor, fy=factor, interpolation=cv2.INTER_CUBIC)
        image = np.asarray(enlarged, np.uint8)
    if np.median(image) < DARK_LEVEL:
        white = max(1.0, float(np.percentile(image, 99)))
        levels = 255 * (np.arange(256) / white) ** BRIGHTENING_GAMMA
        image = levels.clip(0, 255).round().astype(np.uint8)[image]
    return image, max(1.0, factor)


def _shrunk(face: Face, factor: float) -> Face:
    """The face of an enlarged picture in pixels of the picture; pixel centres are whole numbers."""
    if factor == 1:
        return face
    landmarks = face.landmarks / np.float32(factor)
    landmarks[:, :2] += (1 / factor - 1) / 2
    return replace(face, landmarks=landmarks)


def _box(face: Face) -> tuple[float, float, float, float]:
    left, top = face.landmarks[:, :2].min(axis=0)
    width, height = np.ptp(face.landmarks[:, :2], axis=0)
    return float(left), float(top), float(width), float(height)


def _same(faces: Iterable[Face], left: float, top: float, width: float, height: float) -> Face | None:
    """The face that a box shows: the centre of one lies in the other."""
    x, y = left + width / 2, top + height / 2
    for face in faces:
        other_left, other_top, other_width, other_height = _box(face)
        across, down = abs(other_left + other_width / 2 - x), abs(other_top + other_height / 2 - y)
        if (across < width / 2 and down < height / 2) or (
            across < other_width / 2 and down < other_height / 2
        ):
            return face
    return None
