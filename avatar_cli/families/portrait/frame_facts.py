"""What one frame of a reference video shows of the person, as far as it is remembered."""

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.face_cut import cut_around
from avatar_cli.families.portrait.face_mesh import Face
from avatar_cli.families.portrait.geometry import Pose, euler_angles, personal_pose
from avatar_cli.families.portrait.landmarks import BLENDSHAPES, FACE_OVAL
from avatar_cli.families.portrait.latents import MOUTH
from avatar_cli.families.portrait.measures import measure_mouth, measure_upper_face
from avatar_cli.families.portrait.suitability import share_outside
from avatar_cli.families.portrait.tokens import sample_colours
from avatar_cli.media.video_reference import VideoFrame

Floats = NDArray[np.float32]

MOST_TURNED = math.radians(25)  # yaw or pitch of a usable frame
SMALLEST_USABLE = 24.0  # pixels per e
MOST_CUT = 0.02  # share of the landmarks outside the frame
_SIDE = 128  # pixels a face is shrunk to before its sharpness is measured
_AROUND = 0.1  # of the face's size, in which colours are averaged
_LOOKS = tuple(name for name in BLENDSHAPES if name.startswith("eyeLook"))


@dataclass(frozen=True)
class FrameFacts:
    """One frame with the face in it.

    Attributes:
        seconds: When it is seen.
        shot: Counts the shots before its own.
        landmarks: float32 [478, 3], pixels.
        canonical: float32 [478, 3], e, with the pose taken away as for a single picture.
        colours: float32 [128, 3], of the token points.
        pose: Head pose of a single picture.
        turn: Root of the sum of squares of yaw and pitch, radians.
        gap: Between the lips, e.
        lids: Height of the eye slits, e.
        shut: Expression score of closed eyes, mean of both, 0..1.
        aside: The largest expression score of looking away, 0..1.
        expression: Sum of the scores of a smile, raised brows and rounded lips, 0..2.
        sharpness: Standard deviation of the Laplacian over that of the brightness of the face.
        brightness: Mean of the face, 0..255.
        outside: Share of the landmarks outside the frame.
    """

    seconds: float
    shot: int
    landmarks: Floats
    canonical: Floats
    colours: Floats
    pose: Pose
    turn: float
    gap: float
    lids: float
    shut: float
    aside: float
    expression: float
    sharpness: float
    brightness: float
    outside: float

    @property
    def scale(self) -> float:
        """Pixels per e."""
        return self.pose.scale

    @property
    def frontal(self) -> bool:
        """Whether face and size are such that a mesh can be trusted."""
        return self.turn <= MOST_TURNED and self.scale >= SMALLEST_USABLE and self.outside <= MOST_CUT


def facts_of(frame: VideoFrame, face: Face, shape: NDArray, shot: int = 0) -> FrameFacts:
    """Measures the face in a frame; `shape` is the mean face [478, 3]."""
    pose, canonical = personal_pose(face.landmarks, shape)
    yaw, pitch, _ = euler_angles(pose.rotation)
    scores = dict(zip(BLENDSHAPES, face.blendshapes.tolist(), strict=True))
    around, first = cut_around(frame.pixels, face.landmarks, _AROUND)
    sharpness, brightness = _detail(frame.pixels, face.landmarks)
    smile = (scores["mouthSmileLeft"] + scores["mouthSmileRight"]) / 2
    return FrameFacts(
        seconds=frame.seconds,
        shot=shot,
        landmarks=face.landmarks,
        canonical=canonical.astype(np.float32),
        colours=sample_colours(around, face.landmarks - first, pose.scale),
        pose=pose,
        turn=math.hypot(yaw, pitch),
        gap=float(measure_mouth(canonical)[MOUTH.index("gap")]),
        lids=float(measure_upper_face(canonical).lid_opening),
        shut=(scores["eyeBlinkLeft"] + scores["eyeBlinkRight"]) / 2,
        aside=max(scores[name] for name in _LOOKS),
        expression=smile + scores["browInnerUp"] + scores["mouthFunnel"] + scores["mouthPucker"] / 2,
        sharpness=sharpness,
        brightness=brightness,
        outside=share_outside(frame.pixels, face),
    )


def _detail(image: NDArray[np.uint8], landmarks: Floats) -> tuple[float, float]:
    """Sharpness and brightness of the face in uint8 [H, W, 3], whatever its size and contrast."""
    face, _ = cut_around(image, landmarks[list(FACE_OVAL)])
    part = cv2.resize(face, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
    gray = cv2.cvtColor(part, cv2.COLOR_RGB2GRAY).astype(np.float32)
    edges = cv2.Laplacian(gray, cv2.CV_32F)
    return float(edges.std() / (gray.std() + 1)), float(gray.mean())
