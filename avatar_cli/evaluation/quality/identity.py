"""Is it still the same person? Cosines of a face-recognition network's embeddings."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from ai_edge_litert.interpreter import Interpreter
from numpy.typing import NDArray

from avatar_cli.evaluation.quality.drift import ends
from avatar_cli.families.portrait.landmarks import LEFT_EYE, RIGHT_EYE
from avatar_cli.families.portrait.tflite import run_network
from avatar_cli.media.decoding import Image
from avatar_cli.protocol.errors import InputError

Floats = NDArray[np.float32]

EVERY = 5  # frames
SIDE = 112
_NOSE_TIP, _MOUTH_CORNERS = 1, (61, 291)
# Where face-recognition networks are trained to find eyes, nose and corners of the mouth, in their 112 x 112
# pixels (Deng et al. 2019, "ArcFace").
_TEMPLATE = np.array(
    [(38.2946, 51.6963), (73.5318, 51.5014), (56.0252, 71.7366), (41.5493, 92.3655), (70.7299, 92.2041)]
)


@dataclass(frozen=True)
class Likenesses:
    """Cosines of faces; -1..1.

    Attributes:
        lowest: Of every fifth frame's face to the first frame's.
        mean: The same.
        end: Of the mean face of the last minute to that of the first, see `drift.ends`.
        within: Of those of both halves of the first minute: as good as `end` gets.
    """

    lowest: float
    mean: float
    end: float
    within: float


class FaceEmbedder:
    """A face-recognition network, such as MobileFaceNet, in TensorFlow Lite."""

    def __init__(self, path: Path) -> None:
        """Loads the network. Raises InputError where it is none or takes something else."""
        try:
            self._network = Interpreter(str(path), num_threads=1)
            self._network.resize_tensor_input(
                self._network.get_input_details()[0]["index"], (2, SIDE, SIDE, 3)
            )
            self._network.allocate_tensors()
        except (ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())
            raise InputError(
                f"{path} is no face-recognition network that takes RGB pictures of {SIDE}x{SIDE} ({reason}): "
                "give a TensorFlow Lite file such as MobileFaceNet."
            ) from error

    def embed(self, frame: Image, landmarks: Floats) -> Floats:
        """Unit vector of a face in an RGB frame, by its mesh in pixels; face and mirror image are summed."""
        face = (aligned_face(frame, landmarks).astype(np.float32) - 127.5) / 128
        both = run_network(self._network, np.stack([face, face[:, ::-1]]))[0].astype(np.float32).sum(axis=0)
        return both / np.linalg.norm(both)


class IdentityWatcher:
    """Embeds every fifth frame."""

    def __init__(self, embedder: FaceEmbedder) -> None:
        self._embedder = embedder
        self._embeddings: list[Floats] = []
        self._frames: list[int] = []

    def see(self, index: int, frame: Image, landmarks: Floats) -> None:
        """One frame and its mesh in pixels."""
        if index % EVERY == 0:
            self._embeddings.append(self._embedder.embed(frame, landmarks))
            self._frames.append(index)

    def likenesses(self) -> Likenesses:
        """Against the first frame, and of the end against the beginning."""
        return cosines(self._embeddings, self._frames)


def aligned_face(frame: Image, landmarks: Floats) -> Image:
    """The face as face-recognition networks expect it, uint8 [112, 112, 3], by five points of its mesh."""
    eyes = [landmarks[eye.iris[0], :2] for eye in (LEFT_EYE, RIGHT_EYE)]
    points = np.array([*eyes, landmarks[_NOSE_TIP, :2], *landmarks[list(_MOUTH_CORNERS), :2]], np.float64)
    affine = _similarity(points, _TEMPLATE)
    return np.asarray(cv2.warpAffine(frame, affine, (SIDE, SIDE), flags=cv2.INTER_LINEAR), np.uint8)


def cosines(embeddings: Sequence[Floats], frames: Sequence[int]) -> Likenesses:
    """Of unit vectors, taken from these frames of a video that ends with the last of them."""
    vectors, when = np.stack(embeddings), np.array(frames)
    values = vectors @ vectors[0]
    first, last = ends(frames[-1] + 1)
    early, late = when < first.stop, when >= last.start
    half = when < first.stop / 2
    later_half = early & ~half if (early & ~half).any() else half
    return Likenesses(
        float(values.min()),
        float(values.mean()),
        end=float(_mean_face(vectors[early]) @ _mean_face(vectors[late])),
        within=float(_mean_face(vectors[half]) @ _mean_face(vectors[later_half])),
    )


def _mean_face(vectors: Floats) -> Floats:
    mean = vectors.mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean), np.float32)


def _similarity(points: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64]:
    """[2, 3]: turn, scale and shift that take `points` [N, 2] to `target` in the least-squares sense."""
    source_centre, target_centre = points.mean(axis=0), target.mean(axis=0)
    source = (points - source_centre) @ [1, 1j]
    wanted = (target - target_centre) @ [1, 1j]
    factor = np.vdot(source, wanted) / np.vdot(source, source)
    turn = np.array([[factor.real, -factor.imag], [factor.imag, factor.real]])
    return np.column_stack([turn, target_centre - turn @ source_centre])
