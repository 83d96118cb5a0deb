"""Finds faces and their 478 mesh points in one picture, with MediaPipe's networks on the LiteRT interpreter.

Each picture is treated on its own (MediaPipe's IMAGE mode): nothing is smoothed over time, so nothing lags.
Pixel coordinates have their origin in the centre of the top left pixel.
"""

import math
from dataclasses import dataclass

import cv2
import numpy as np
from ai_edge_litert.interpreter import Interpreter
from numpy.typing import NDArray

from avatar_cli.families.portrait.landmarks import BLENDSHAPE_INPUT, OUTER_EYE_CORNERS
from avatar_cli.families.portrait.latents import MESH_POINTS
from avatar_cli.families.portrait.tflite import load_network

Image = NDArray[np.uint8]  # [H, W, 3], RGB
Floats = NDArray[np.float32]

DETECTOR_SIDE = 128
LANDMARK_SIDE = 256
# Side of the landmark network's square against the face box (MediaPipe's graph).
REGION_SCALE = 1.5
MIN_DETECTION_SCORE = 0.5
MIN_PRESENCE = 0.5
OVERLAP_OF_ONE_FACE = 0.3
# The short-range detector misses faces below about a tenth of its view: search windows are
# halved down to this side.
MIN_SEARCH_WINDOW = 256


@dataclass(frozen=True)
class Detection:
    """One face found by the detector, in pixels."""

    left: float
    top: float
    width: float
    height: float
    score: float  # 0..1
    keypoints: Floats  # [6, 2]: eye at the image's left, eye at its right, nose tip, mouth, two ear tragi


@dataclass(frozen=True)
class Face:
    """The mesh of one face.

    Attributes:
        landmarks: float32 [478, 3]: x and y in pixels; z grows away from the camera, in the same unit.
        blendshapes: float32 [52]: expression scores 0..1, named by `landmarks.BLENDSHAPES`.
        presence: The landmark network's belief that there is a face, 0..1.
    """

    landmarks: Floats
    blendshapes: Floats
    presence: float


@dataclass(frozen=True)
class _Region:
    """A rotated square of the picture; `angle` in radians turns the image's x axis into the square's."""

    x: float
    y: float
    side: float
    angle: float

    def to_image(self, size: int) -> NDArray[np.float64]:
        """[2, 3] affine map from a `size` x `size` crop to picture pixels."""
        step = self.side / size
        cosine, sine = math.cos(self.angle) * step, math.sin(self.angle) * step
        rotation = np.array([[cosine, -sine], [sine, cosine]])
        centre = np.array([self.x, self.y]) - rotation @ np.full(2, size / 2)
        return np.column_stack([rotation, centre])


class FaceTracker:
    """Detector, landmark network and blendshape network; one CPU thread, not to be shared between threads."""

    def __init__(self) -> None:
        """Loads the three networks from the embedded assets."""
        self._detector = load_network("landmarks/face_detector.tflite")
        self._landmarks = load_network("landmarks/face_landmarks_detector.tflite")
        self._blendshapes = load_network("landmarks/face_blendshapes.tflite")
        self._anchors = _detector_anchors()

    def detect(self, image: Image) -> list[Detection]:
        """Every face box of uint8 [H, W, 3] RGB, largest first; some may turn out not to be faces."""
        height, width = image.shape[:2]
        return self._detect_windows(image, [(0, 0, max(width, height))])

    def faces(self, image: Image) -> list[Face]:
        """The meshes of all faces of uint8 [H, W, 3] RGB, largest first.

        The whole picture is searched first, then smaller and smaller windows of it until a face is found.
        """
        for windows in _search_rounds(*image.shape[:2]):
            meshes = [self._refine(image, detection) for detection in self._detect_windows(image, windows)]
            faces = [face for face in meshes if face is not None]
            if faces:
                return sorted(
                    faces, key=lambda face: float(np.ptp(face.landmarks, axis=0).max()), reverse=True
                )
        return []

    def track(self, image: Image) -> Face | None:
        """The mesh of the largest face of uint8 [H, W, 3] RGB, or None where there is none."""
        return next(iter(self.faces(image)), None)

    def _refine(self, image: Image, detection: Detection) -> Face | None:
        """The mesh of one detected face, or None where the landmark network sees no face there.

        The landmark network runs twice: its second crop follows from the first mesh instead of from the
        detector's coarse box, which takes a quarter off the jitter between frames of a video.
        """
        landmarks, presence = self._mesh(image, _detected_region(detection))
        if presence >= MIN_PRESENCE:
            landmarks, presence = self._mesh(image, _mesh_region(landmarks))
        if presence < MIN_PRESENCE:
            return None
        points = landmarks[list(BLENDSHAPE_INPUT), :2]
        scores = _run(self._blendshapes, points[None])[0]
        return Face(landmarks, scores.reshape(-1), presence)

    def _detect_windows(self, image: Image, windows: list[tuple[int, int, int]]) -> list[Detection]:
        found = [face for window in windows for face in self._detect_window(image, *window)]
        return sorted(_merge(found), key=lambda face: face.width * face.height, reverse=True)

    def _detect_window(self, image: Image, left: int, top: int, side: int) -> list[Detection]:
        window = image[top : top + side, left : left + side]
        rows, columns = window.shape[:2]
        scale = DETECTOR_SIDE / max(rows, columns)
        size = (max(1, round(columns * scale)), max(1, round(rows * scale)))
        shrunk = cv2.resize(window, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
        square = np.zeros((DETECTOR_SIDE, DETECTOR_SIDE, 3), np.float32)
        x, y = (DETECTOR_SIDE - size[0]) // 2, (DETECTOR_SIDE - size[1]) // 2
        square[y : y + size[1], x : x + size[0]] = shrunk / np.float32(127.5) - 1
        boxes, logits = _run(self._detector, square[None])
        scores = _sigmoid(logits[0, :, 0])
        chosen = scores >= MIN_DETECTION_SCORE
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

    def _mesh(self, image: Image, region: _Region) -> tuple[Floats, float]:
        crop = _crop(image, region)
        outputs = _run(self._landmarks, (crop / np.float32(255)).astype(np.float32)[None])
        points = outputs[0].reshape(MESH_POINTS, 3)
        presence = outputs[1]
        to_image = region.to_image(LANDMARK_SIDE)
        flat = points[:, :2] @ to_image[:, :2].T + to_image[:, 2]
        depth = points[:, 2:] * (region.side / LANDMARK_SIDE)
        landmarks = np.concatenate([flat, depth], axis=1).astype(np.float32)
        return landmarks, float(_sigmoid(presence).item())


def _run(network: Interpreter, value: Floats) -> list[Floats]:
    network.set_tensor(network.get_input_details()[0]["index"], value)
    network.invoke()
    return [network.get_tensor(output["index"]) for output in network.get_output_details()]


def _sigmoid(logits: Floats) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-np.clip(logits.astype(np.float64), -100, 100)))


def _detector_anchors() -> NDArray[np.float64]:
    """[896, 2] anchor centres in detector pixels: two a cell of 8 pixels, then six a cell of 16 pixels."""
    layers = []
    for stride, per_cell in ((8, 2), (16, 6)):
        centres = (np.arange(DETECTOR_SIDE // stride) + 0.5) * stride
        rows, columns = np.meshgrid(centres, centres, indexing="ij")
        layers.append(np.repeat(np.stack([columns.ravel(), rows.ravel()], axis=1), per_cell, axis=0))
    return np.concatenate(layers)


def _search_rounds(height: int, width: int) -> list[list[tuple[int, int, int]]]:
    """Squares (left, top, side): the whole picture, then ever smaller windows that overlap by half."""
    side = max(height, width)
    rounds = [[(0, 0, side)]]
    while side // 2 >= max(MIN_SEARCH_WINDOW, min(height, width) // 4):
        side //= 2
        starts = (_window_starts(height, side), _window_starts(width, side))
        rounds.append([(left, top, side) for top in starts[0] for left in starts[1]])
    return rounds


def _window_starts(length: int, side: int) -> list[int]:
    if length <= side:
        return [0]
    count = math.ceil((length - side) / (side / 2)) + 1
    return [round(start) for start in np.linspace(0, length - side, count)]


def _merge(found: list[Detection]) -> list[Detection]:
    """Weighted non-maximum suppression: overlapping boxes become their average, weighted by score."""
    remaining = sorted(found, key=lambda face: face.score, reverse=True)
    merged = []
    while remaining:
        best = remaining[0]
        group = [face for face in remaining if face is best or _overlap(face, best) > OVERLAP_OF_ONE_FACE]
        remaining = [face for face in remaining if not any(face is other for other in group)]
        weights = np.array([face.score for face in group])
        rows = np.array([[face.left, face.top, face.width, face.height] for face in group])
        points = np.stack([face.keypoints for face in group])
        left, top, width, height = np.average(rows, axis=0, weights=weights)
        keypoints = np.average(points, axis=0, weights=weights).astype(np.float32)
        merged.append(Detection(float(left), float(top), float(width), float(height), best.score, keypoints))
    return merged


def _overlap(a: Detection, b: Detection) -> float:
    """Intersection over union of two boxes."""
    across = min(a.left + a.width, b.left + b.width) - max(a.left, b.left)
    down = min(a.top + a.height, b.top + b.height) - max(a.top, b.top)
    shared = max(across, 0.0) * max(down, 0.0)
    return shared / (a.width * a.height + b.width * b.height - shared)


def _detected_region(face: Detection) -> _Region:
    across, down = face.keypoints[1] - face.keypoints[0]
    return _Region(
        x=face.left + face.width / 2,
        y=face.top + face.height / 2,
        side=max(face.width, face.height) * REGION_SCALE,
        angle=math.atan2(down, across),
    )


def _mesh_region(landmarks: Floats) -> _Region:
    flat = landmarks[:, :2].astype(np.float64)
    first, last = OUTER_EYE_CORNERS
    across, down = flat[last] - flat[first]
    angle = math.atan2(down, across)
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    upright = flat @ turn
    low, high = upright.min(axis=0), upright.max(axis=0)
    x, y = turn @ ((low + high) / 2)
    return _Region(float(x), float(y), float((high - low).max()) * REGION_SCALE, angle)


def _crop(image: Image, region: _Region) -> Image:
    """uint8 [256, 256, 3]; large faces are averaged down first, so that sampling does not alias."""
    to_image = region.to_image(LANDMARK_SIDE)
    shrink = region.side / LANDMARK_SIDE / 2
    if shrink > 1:
        height, width = image.shape[:2]
        reach = region.side * math.sqrt(0.5) + 2 * shrink
        left, right = _clipped(region.x - reach, region.x + reach, width)
        top, bottom = _clipped(region.y - reach, region.y + reach, height)
        size = (math.ceil((right - left) / shrink), math.ceil((bottom - top) / shrink))
        factors = np.array([[size[0] / (right - left)], [size[1] / (bottom - top)]])
        shrunk = cv2.resize(image[top:bottom, left:right], size, interpolation=cv2.INTER_AREA)
        image = np.asarray(shrunk, np.uint8)
        to_image[:, 2:] -= [[left], [top]]
        to_image = to_image * factors
        to_image[:, 2:] += (factors - 1) / 2
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    size = (LANDMARK_SIDE, LANDMARK_SIDE)
    crop = cv2.warpAffine(image, to_image, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(crop, np.uint8)


def _clipped(low: float, high: float, length: int) -> tuple[int, int]:
    """The whole pixels of [low, high) that lie inside a picture of this length; at least one."""
    first = min(max(math.floor(low), 0), length - 1)
    return first, max(first + 1, min(math.ceil(high), length))
