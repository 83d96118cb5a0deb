"""A face followed through a video, every frame on its own, and the curves that figures are taken from."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.geometry import CHIN_TIP, FOREHEAD, Pose, fit_pose, relative_pose
from avatar_cli.families.portrait.landmarks import OUTER_EYE_CORNERS
from avatar_cli.families.portrait.latents import MOUTH
from avatar_cli.families.portrait.measures import measure_mouth, measure_upper_face
from avatar_cli.families.portrait.tracker import FaceTracker
from avatar_cli.media.decoding import Image, read_frames

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

TRACK_FPS = Fraction(25)
_ROUNDS = 3
_GAP, _WIDTH = MOUTH.index("gap"), MOUTH.index("width")
_INNER_UPPER_LIP = (13, 82, 312)
_INNER_LOWER_LIP = (14, 87, 317)


@dataclass(frozen=True)
class FaceTrack:
    """One face over T frames.

    The frame of reference is the face's own mean in this very video. Only the landmark network is shared with
    the product.

    Attributes:
        landmarks: float32 [T, 478, 3], pixels.
        canonical: float32 [T, 478, 3], head pose removed, in e (distance of the outer eye corners).
        poses: Head pose of every frame against the mean face.
        seen: bool [T], False where no face was found and that of the nearest frame stands in.
    """

    landmarks: Floats
    canonical: Floats
    poses: tuple[Pose, ...]
    seen: NDArray[np.bool_]

    @property
    def opening(self) -> Floats:
        """Inner-lip gap without head pose, float32 [T], e."""
        return self.mouth[:, _GAP]

    @property
    def image_opening(self) -> Floats:
        """Inner-lip gap as a viewer sees it, float32 [T]: pixels over the distance of the eyes in pixels."""
        flat = self.landmarks[..., :2]
        lower, upper = (flat[:, list(lip)].mean(axis=1) for lip in (_INNER_LOWER_LIP, _INNER_UPPER_LIP))
        first, last = OUTER_EYE_CORNERS
        return np.linalg.norm(lower - upper, axis=-1) / np.linalg.norm(
            flat[:, last] - flat[:, first], axis=-1
        )

    @property
    def mouth(self) -> Floats:
        """The nine distances of `latents.MOUTH`, float32 [T, 9], e."""
        return measure_mouth(self.canonical)

    @property
    def lid_opening(self) -> Floats:
        """Height of the eye slits, float32 [T], e."""
        return np.asarray(measure_upper_face(self.canonical).lid_opening)

    @property
    def width(self) -> Floats:
        """Distance of the mouth's corners, float32 [T], e."""
        return self.mouth[:, _WIDTH]

    @property
    def turn(self) -> Doubles:
        """How far the head is turned from facing the camera, roll left out, float64 [T], radians."""
        facing = np.array([pose.rotation[2, 2] for pose in self.poses])
        return np.asarray(np.arccos(np.clip(facing, -1, 1)))

    @property
    def pose(self) -> Floats:
        """Head motion against the first frame in the order of `latents.POSE`, float32 [T, 6]."""
        return np.stack([relative_pose(pose, self.poses[0]) for pose in self.poses])


def track_video(path: Path, *, fps: Fraction = TRACK_FPS, seconds: float | None = None) -> FaceTrack:
    """Tracks the largest face of a video at `fps`. Raises ValueError where no frame shows a face."""
    return track_frames(read_frames(path, fps=fps, seconds=seconds))


def track_frames(frames: Iterable[Image]) -> FaceTrack:
    """Tracks the largest face of RGB frames. Raises ValueError where none shows a face."""
    tracker = FaceTracker()
    faces = [tracker.track(frame) for frame in frames]
    seen = np.array([face is not None for face in faces])
    if not seen.any():
        raise ValueError(f"no face was found in any of {len(faces)} frames")
    known = np.flatnonzero(seen)
    nearest = known[np.abs(np.arange(len(faces))[:, None] - known).argmin(axis=1)]
    meshes = [face.landmarks for face in (faces[index] for index in nearest) if face is not None]
    landmarks = np.stack(meshes)
    canonical, poses = remove_pose(landmarks)
    return FaceTrack(landmarks, canonical, poses, seen)


def remove_pose(landmarks: Floats) -> tuple[Floats, tuple[Pose, ...]]:
    """Meshes of one person [T, 478, 3] in pixels without the motion of the head, in e, and that motion.

    Every frame is fitted to the mean of all frames by points that expression spares (generalised Procrustes).
    """
    mean = _upright(landmarks[0].astype(np.float64))
    for _ in range(_ROUNDS):
        mean = _upright(np.mean([fit_pose(mesh, mean).to_canonical(mesh) for mesh in landmarks], axis=0))
    poses = tuple(fit_pose(mesh, mean) for mesh in landmarks)
    canonical = [pose.to_canonical(mesh) for pose, mesh in zip(poses, landmarks, strict=True)]
    return np.stack(canonical).astype(np.float32), poses


def _upright(mesh: Doubles) -> Doubles:
    """A mesh with level eyes one unit apart, and the chin straight below the top of the forehead."""
    first, last = OUTER_EYE_CORNERS
    across = mesh[last] - mesh[first]
    unit = np.linalg.norm(across)
    across = across / unit
    down = mesh[CHIN_TIP] - mesh[FOREHEAD]
    down = down - across * (down @ across)
    down = down / np.linalg.norm(down)
    axes = np.stack([across, down, np.cross(across, down)])
    return (mesh - (mesh[first] + mesh[last]) / 2) @ axes.T / unit
