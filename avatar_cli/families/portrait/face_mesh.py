"""The 478-point mesh of one face, with MediaPipe's landmark and expression networks.

Each picture is treated on its own (MediaPipe's IMAGE mode): nothing is smoothed over time, so nothing lags.
Pixel coordinates have their origin in the centre of the top left pixel.
"""

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.face_detector import Detection
from avatar_cli.families.portrait.landmarks import BLENDSHAPE_INPUT, OUTER_EYE_CORNERS
from avatar_cli.families.portrait.latents import MESH_POINTS
from avatar_cli.families.portrait.tflite import load_network, run_network, sigmoid

Image = NDArray[np.uint8]  # [H, W, 3], RGB
Floats = NDArray[np.float32]

LANDMARK_SIDE = 256
# Side of the landmark network's square against the face box (MediaPipe's graph).
REGION_SCALE = 1.5
MIN_PRESENCE = 0.5


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

    @property
    def extent(self) -> float:
        """The largest of the mesh's width, height and depth, pixels."""
        return float(np.ptp(self.landmarks, axis=0).max())


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


class FaceMesher:
    """Landmark and blendshape network; one CPU thread, not to be shared between threads."""

    def __init__(self) -> None:
        """Loads both networks from the embedded assets."""
        self._landmarks = load_network("landmarks/face_landmarks_detector.tflite")
        self._blendshapes = load_network("landmarks/face_blendshapes.tflite")

    def mesh(self, image: Image, detection: Detection) -> Face | None:
        """The mesh of one detected face, or None where the landmark network sees no face there.

        The landmark network runs twice: its second crop follows from the first mesh instead of from the
        detector's coarse box, which takes a quarter off the jitter between frames of a video.
        """
        landmarks, presence = self._points(image, _detected_region(detection))
        if presence >= MIN_PRESENCE:
            landmarks, presence = self._points(image, _mesh_region(landmarks))
        return self._face(landmarks, presence)

    def follow(self, image: Image, before: Face) -> Face | None:
        """The mesh of a face that was `before` a moment ago; None where it has gone.

        The crop follows from the earlier mesh, as in `mesh` from a first one, so that no detector is needed.
        """
        return self._face(*self._points(image, _mesh_region(before.landmarks)))

    def _face(self, landmarks: Floats, presence: float) -> Face | None:
        if presence < MIN_PRESENCE:
            return None
        points = landmarks[list(BLENDSHAPE_INPUT), :2]
        scores = run_network(self._blendshapes, points[None])[0]
        return Face(landmarks, scores.reshape(-1), presence)

    def _points(self, image: Image, region: _Region) -> tuple[Floats, float]:
        crop = _crop(image, region)
        outputs = run_network(self._landmarks, (crop / np.float32(255)).astype(np.float32)[None])
        points = outputs[0].reshape(MESH_POINTS, 3)
        presence = outputs[1]
        to_image = region.to_image(LANDMARK_SIDE)
        flat = points[:, :2] @ to_image[:, :2].T + to_image[:, 2]
        depth = points[:, 2:] * (region.side / LANDMARK_SIDE)
        landmarks = np.concatenate([flat, depth], axis=1).astype(np.float32)
        return landmarks, float(sigmoid(presence).item())


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
        left, right = pixels_between(region.x - reach, region.x + reach, width)
        top, bottom = pixels_between(region.y - reach, region.y + reach, height)
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


def pixels_between(low: float, high: float, length: int) -> tuple[int, int]:
    """The whole pixels of [low, high) that lie inside a picture of this length; at least one."""
    first = min(max(math.floor(low), 0), length - 1)
    return first, max(first + 1, min(math.ceil(high), length))
