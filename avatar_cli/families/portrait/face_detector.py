"""MediaPipe's face detection networks: boxes and six keypoints of the faces in one window of a picture.

Pixel coordinates have their origin in the centre of the top left pixel.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.tflite import load_network, run_network, sigmoid

Image = NDArray[np.uint8]  # [H, W, 3], RGB
Floats = NDArray[np.float32]

OVERLAP_OF_ONE_FACE = 0.3


@dataclass(frozen=True)
class DetectorParams:
    """One detection network; the figures are those of MediaPipe's graphs.

    Attributes:
        network: Name of the asset.
        side: Pixels of its square input.
        anchors: (stride in pixels, anchors a cell) of every layer, in the order of its outputs.
        min_score: Boxes below are not faces, 0..1.
    """

    network: str
    side: int
    anchors: tuple[tuple[int, int], ...]
    min_score: float


# Faces from about a tenth of the window up, as seen by a phone's front camera.
SHORT_RANGE = DetectorParams("landmarks/face_detector.tflite", 128, ((8, 2), (16, 6)), 0.5)
# Faces from about a twentieth of the window up; it misses some that fill the window.
FULL_RANGE = DetectorParams("landmarks/face_detector_full_range.tflite", 192, ((4, 1),), 0.6)


@dataclass(frozen=True)
class Window:
    """A square of a picture, in pixels; what lies outside the picture is seen black."""

    left: int
    top: int
    side: int


@dataclass(frozen=True)
class Detection:
    """One face found by a detector, in pixels."""

    left: float
    top: float
    width: float
    height: float
    score: float  # 0..1
    keypoints: Floats  # [6, 2]: eye at the image's left, eye at its right, nose tip, mouth, two ear tragi


class FaceDetector:
    """One of the networks; one CPU thread, not to be shared between threads."""

    def __init__(self, params: DetectorParams) -> None:
        """Loads the network from the embedded assets."""
        self._params = params
        self._network = load_network(params.network)
        self._anchors = _anchor_centres(params)

    def detect(self, image: Image, windows: Sequence[Window]) -> list[Detection]:
        """The faces in windows of uint8 [H, W, 3] RGB, largest first; some may turn out not to be faces."""
        found = [face for window in windows for face in self._detect_window(image, window)]
        return merged(found)

    def _detect_window(self, image: Image, window: Window) -> list[Detection]:
        left, top = window.left, window.top
        cut = image[top : top + window.side, left : left + window.side]
        rows, columns = cut.shape[:2]
        side = self._params.side
        scale = side / max(rows, columns)
        size = (max(1, round(columns * scale)), max(1, round(rows * scale)))
        shrunk = cv2.resize(cut, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
        square = np.zeros((side, side, 3), np.float32)
        x, y = (side - size[0]) // 2, (side - size[1]) // 2
        square[y : y + size[1], x : x + size[0]] = shrunk / np.float32(127.5) - 1
        boxes, logits = run_network(self._network, square[None])
        scores = sigmoid(logits[0, :, 0])
        chosen = scores >= self._params.min_score
        # Rows of an entry: centre, size, six keypoints; all but the size are relative to the anchor.
        points = boxes[0][chosen].astype(np.float64).reshape(-1, 8, 2)
        positions = [0, *range(2, 8)]
        points[:, positions] += self._anchors[chosen][:, None] - (x, y)
        points /= scale
        points[:, positions] += (left, top)
        return [
            Detection(
                left=float(entry[0, 0] - entry[1, 0] / 2),
                top=float(entry[0, 1] - entry[1, 1] / 2),
                width=float(entry[1, 0]),
                height=float(entry[1, 1]),
                score=float(score),
                keypoints=entry[2:].astype(np.float32),
            )
            for entry, score in zip(points, scores[chosen], strict=True)
        ]


def merged(found: Sequence[Detection]) -> list[Detection]:
    """Weighted non-maximum suppression: overlapping boxes become their average, weighted by score.

    The largest box comes first.
    """
    remaining = sorted(found, key=lambda face: face.score, reverse=True)
    faces = []
    while remaining:
        best = remaining[0]
        group = [face for face in remaining if face is best or _overlap(face, best) > OVERLAP_OF_ONE_FACE]
        remaining = [face for face in remaining if not any(face is other for other in group)]
        weights = np.array([face.score for face in group])
        rows = np.array([[face.left, face.top, face.width, face.height] for face in group])
        points = np.stack([face.keypoints for face in group])
        left, top, width, height = np.average(rows, axis=0, weights=weights)
        keypoints = np.average(points, axis=0, weights=weights).astype(np.float32)
        faces.append(Detection(float(left), float(top), float(width), float(height), best.score, keypoints))
    return sorted(faces, key=lambda face: face.width * face.height, reverse=True)


def _overlap(a: Detection, b: Detection) -> float:
    """Intersection over union of two boxes."""
    across = min(a.left + a.width, b.left + b.width) - max(a.left, b.left)
    down = min(a.top + a.height, b.top + b.height) - max(a.top, b.top)
    shared = max(across, 0.0) * max(down, 0.0)
    return shared / (a.width * a.height + b.width * b.height - shared)


def _anchor_centres(params: DetectorParams) -> NDArray[np.float64]:
    """[N, 2] anchor centres in pixels of the network's input: layer by layer, row by row."""
    layers = []
    for stride, per_cell in params.anchors:
        centres = (np.arange(params.side // stride) + 0.5) * stride
        rows, columns = np.meshgrid(centres, centres, indexing="ij")
        layers.append(np.repeat(np.stack([columns.ravel(), rows.ravel()], axis=1), per_cell, axis=0))
    return np.concatenate(layers)
