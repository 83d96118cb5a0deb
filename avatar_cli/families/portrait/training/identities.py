"""People to train on: reference tokens, and how far the mouth behind them opens.

Bigger mouths move further, so the motion of a training window is scaled by the width of the mouth that its
reference tokens show. Real faces are mixed, mirrored and given wider and narrower mouths, so that the
network reads the tokens and does not remember the few people there are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from avatar_cli.families.portrait.geometry import personal_pose
from avatar_cli.families.portrait.habits import usual_mouth_scale
from avatar_cli.families.portrait.landmarks import (
    INNER_LOWER_LIP,
    INNER_UPPER_LIP,
    OUTER_LOWER_LIP,
    OUTER_UPPER_LIP,
)
from avatar_cli.families.portrait.motion_basis import MotionBasis
from avatar_cli.families.portrait.tokens import assemble_tokens, sample_colours
from avatar_cli.families.portrait.tracker import FaceTracker
from avatar_cli.families.portrait.training.clips import TrackedClip

# Portraits whose rights allow it (public domain, CC BY, MIT).
PORTRAITS = (
    "p01_astronaut_smile_teeth.png",
    "p02_grace_hopper_glasses_closed.jpg",
    "p03_man_official_dark_skin_teeth.jpg",
    "p07_woman_black_glasses.jpg",
    "p08_man_darkskin_smile.jpg",
    "p15_asian_woman_senior.jpg",
    "p19_man_open_mouth.jpg",
    "p21_mona_lisa.jpg",
    "p24_gogol_painting.png",
)
_LIPS = tuple({*INNER_UPPER_LIP, *INNER_LOWER_LIP, *OUTER_UPPER_LIP, *OUTER_LOWER_LIP})
_LIP_REACH = 0.18  # e beyond which the skin no longer follows a widened mouth
_NOISE = 0.004  # e, of the tracked points


@dataclass(frozen=True)
class Face:
    """A canonical mesh [478, 3] in e and the colours [128, 3] of its token points."""

    mesh: np.ndarray
    colours: np.ndarray


@dataclass(frozen=True)
class Identity:
    """Reference tokens float32 [128, 12] and the factor on this person's mouth motion."""

    tokens: np.ndarray
    mouth_scale: float


def face_of(image: np.ndarray, landmarks: np.ndarray, basis: MotionBasis) -> Face:
    """The face in a picture uint8 [H, W, 3] with landmarks [478, 3] in pixels."""
    pose, mesh = personal_pose(landmarks, basis.shape)
    return Face(mesh, sample_colours(image, landmarks, pose.scale))


def training_faces(clips: Sequence[TrackedClip], media: Path, basis: MotionBasis) -> list[Face]:
    """Faces of the training clips and of the portraits."""
    faces = [face_of(clip.still, clip.still_landmarks, basis) for clip in clips]
    tracker = FaceTracker()
    for name in PORTRAITS:
        stored = cv2.imread(str(media / "portraits" / name), cv2.IMREAD_COLOR)
        if stored is None:
            raise FileNotFoundError(f"{media / 'portraits' / name} cannot be read")
        image = cv2.cvtColor(stored, cv2.COLOR_BGR2RGB).astype(np.uint8)
        found = tracker.track(image)
        if found is None:
            raise RuntimeError(f"the tracker finds no face in {name}")
        faces.append(face_of(image, found.landmarks, basis))
    return faces


def identity_of(face: Face, basis: MotionBasis) -> Identity:
    """The face as it is."""
    return Identity(
        assemble_tokens(face.mesh, face.colours, basis.shape), usual_mouth_scale(face.mesh, basis.shape)
    )


def invent(faces: Sequence[Face], basis: MotionBasis, rng: np.random.Generator) -> Identity:
    """A person who is none of `faces`."""
    first, second = (faces[index] for index in rng.integers(0, len(faces), 2))
    share = rng.uniform(-0.2, 1.2)
    mesh = (1 - share) * first.mesh + share * second.mesh
    if rng.random() < 0.5:
        mesh = mesh[basis.mirror] * np.array([-1.0, 1.0, 1.0])
    mesh = _widened(mesh, float(np.exp(rng.normal(0.0, 0.16))))
    mesh = mesh + rng.normal(0.0, _NOISE, mesh.shape)
    colours = (first if rng.random() < 0.5 else second).colours
    colours = np.clip(colours * rng.uniform(0.6, 1.3) * rng.uniform(0.9, 1.1, 3), 0.0, 1.0)
    return identity_of(Face(mesh, colours), basis)


def _widened(mesh: np.ndarray, factor: float) -> np.ndarray:
    """The mesh with its mouth wider by `factor`; the skin around follows less and less."""
    lips = mesh[list(_LIPS), :2]
    centre = lips.mean(axis=0)
    distance = np.linalg.norm(mesh[:, None, :2] - lips[None], axis=-1).min(axis=1)
    follows = np.exp(-((distance / _LIP_REACH) ** 2))
    widened = mesh.copy()
    widened[:, 0] += follows * (factor - 1.0) * (mesh[:, 0] - centre[0])
    return widened
