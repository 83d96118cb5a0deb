"""Short video clips of people speaking, tracked into motion latents."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.geometry import (
    Pose,
    eye_distance,
    fit_pose,
    personal_pose,
    relative_pose,
)
from avatar_cli.families.portrait.latents import FPS, MOUTH, UPPER
from avatar_cli.families.portrait.measures import (
    UpperFace,
    measure_mouth,
    measure_upper_face,
    trust_gaze,
    upper_latents,
)
from avatar_cli.families.portrait.tracker import FaceTracker
from avatar_cli.media.decoding import read_frames, read_sound

Floats = NDArray[np.float32]

# Frames in this lowest share of the lips' gap show the person's closed mouth.
CLOSED_SHARE = 0.12
# Eyes among this upper share of openings are neutral: neither blinking nor narrowed.
OPEN_EYES_SHARE = 0.6
LARGEST_SIDE = 1000
_ROUNDS = 3
_NEEDS_OPEN_EYES = tuple(UPPER.index(name) for name in ("gaze_x", "gaze_y", "squint"))


@dataclass(frozen=True)
class TrackedClip:
    """One clip at 25 frames/s.

    Attributes:
        name: Stem of the file's name.
        landmarks: float32 [T, 478, 3], pixels.
        blendshapes: float32 [T, 52].
        canonical: float32 [T, 478, 3], pose removed, e of this person.
        neutral: float32 [478, 3], this person's face with closed mouth and open eyes, e.
        latents: float32 [T, 21]: mouth and upper face relative to `neutral`, pose to the clip's mean pose.
        audio: float32 [S], mono, 16 kHz.
        still: uint8 [H, W, 3], RGB: a frame with closed mouth and open eyes.
        still_landmarks: float32 [478, 3], its landmarks in pixels.
    """

    name: str
    landmarks: Floats
    blendshapes: Floats
    canonical: Floats
    neutral: Floats
    latents: Floats
    audio: Floats
    still: NDArray[np.uint8]
    still_landmarks: Floats


@dataclass(frozen=True)
class Track:
    """What does not depend on a mean face: the tracked points of a clip, its sound and its still."""

    landmarks: Floats
    blendshapes: Floats
    audio: Floats
    still: NDArray[np.uint8]
    still_landmarks: Floats


def load_clips(media: Path, names: Sequence[str], cache: Path, shape: NDArray) -> list[TrackedClip]:
    """Tracks clips, or reads them from the cache where they were tracked before.

    Args:
        media: Folder with a `video` folder.
        names: Stems of the files' names.
        cache: Folder for one .npz a clip; it is made if needed.
        shape: Mean face [478, 3] that the pose is fitted to first; the clip's own mean face replaces it.
    """
    return [clip_of(name, load_track(media, name, cache), shape) for name in names]


def load_track(media: Path, name: str, cache: Path) -> Track:
    """Tracks one clip, or reads the track from `cache` where it was tracked before."""
    stored = cache / f"{name}.npz"
    if not stored.exists():
        cache.mkdir(parents=True, exist_ok=True)
        path = next(path for path in sorted((media / "video").glob(f"{name}.*")) if path.suffix != ".align")
        np.savez(stored, **vars(_track(path)))
    with np.load(stored) as arrays:
        return Track(**{field.name: arrays[field.name] for field in fields(Track)})


def clip_of(name: str, track: Track, shape: NDArray) -> TrackedClip:
    """Removes the pose of a track and measures its motion; arguments as in `load_clips`."""
    canonical, poses = remove_pose(track.landmarks, shape)
    neutral, _ = neutral_mesh(canonical)
    return TrackedClip(
        name=name,
        canonical=canonical,
        neutral=neutral,
        latents=motion_latents(canonical, poses),
        **vars(track),
    )


def frames_of(path: Path) -> list[NDArray[np.uint8]]:
    """RGB frames [H, W, 3] at 25 frames/s, the longer side at most 1000 pixels."""
    side = f"min({LARGEST_SIDE},max(iw,ih))/max(iw,ih)"
    scale = f"scale=w='2*trunc(iw*{side}/2)':h='2*trunc(ih*{side}/2)':flags=area"
    return list(read_frames(path, fps=FPS, filters=scale))


def track_frames(frames: Sequence[NDArray[np.uint8]]) -> tuple[Floats, Floats]:
    """Landmarks [T, 478, 3] and blendshapes [T, 52]; a frame without a face takes its neighbour's."""
    tracker = FaceTracker()
    faces = [tracker.track(frame) for frame in frames]
    seen = np.array([index for index, face in enumerate(faces) if face is not None])
    nearest = seen[np.abs(np.arange(len(frames))[:, None] - seen).argmin(axis=1)]
    chosen = [face for face in (faces[index] for index in nearest) if face is not None]
    return np.stack([face.landmarks for face in chosen]), np.stack([face.blendshapes for face in chosen])


def remove_pose(landmarks: Floats, shape: NDArray) -> tuple[Floats, list[Pose]]:
    """Meshes [T, 478, 3] of one person in the canonical frame, in e of the person's mean face, and the poses.

    The pose of every frame is fitted to the person's own mean face, which starts as `shape` and is the mean
    of the pose-free meshes after every round.
    """
    mean = shape.astype(np.float64)
    for _ in range(_ROUNDS):
        canonical = np.stack([fit_pose(mesh, mean).to_canonical(mesh) for mesh in landmarks]).mean(axis=0)
        # The frame stays that of `shape`: a mean of meshes would otherwise drift away from it.
        mean = personal_pose(canonical, shape)[1]
    poses = [fit_pose(mesh, mean) for mesh in landmarks]
    meshes = [pose.to_canonical(mesh) for pose, mesh in zip(poses, landmarks, strict=True)]
    return np.stack(meshes).astype(np.float32), poses


def neutral_mesh(canonical: Floats) -> tuple[Floats, UpperFace]:
    """The person's closed-mouth, open-eyed mesh [478, 3], and the measures of its upper face."""
    gap = measure_mouth(canonical)[:, MOUTH.index("gap")]
    closed = gap <= np.quantile(gap, CLOSED_SHARE)
    upper = measure_upper_face(canonical)
    awake = upper.lid_opening >= np.quantile(upper.lid_opening, 1 - OPEN_EYES_SHARE)
    both = closed & awake
    mesh = canonical[both if both.any() else closed].mean(axis=0)
    return (mesh / eye_distance(mesh)).astype(np.float32), upper.at(awake)


def motion_latents(canonical: Floats, poses: Sequence[Pose]) -> Floats:
    """float32 [T, 21] of `latents.CHANNELS`, relative to the clip's own neutral face and mean pose."""
    neutral, neutral_upper = neutral_mesh(canonical)
    mouth = measure_mouth(canonical) - measure_mouth(neutral)
    measured = measure_upper_face(canonical)
    upper = upper_latents(measured, neutral_upper)
    trusted = np.flatnonzero(trust_gaze(measured, neutral_upper))
    for channel in _NEEDS_OPEN_EYES:
        upper[:, channel] = np.interp(np.arange(len(upper)), trusted, upper[trusted, channel])
    pose = np.stack([relative_pose(pose, _mean_pose(poses)) for pose in poses])
    return np.concatenate([mouth, upper, pose], axis=1).astype(np.float32)


def _mean_pose(poses: Sequence[Pose]) -> Pose:
    u, _, vt = np.linalg.svd(np.mean([pose.rotation for pose in poses], axis=0))
    scale = float(np.exp(np.mean([np.log(pose.scale) for pose in poses])))
    return Pose(scale, u @ vt, np.mean([pose.translation for pose in poses], axis=0))


def _track(path: Path) -> Track:
    frames = frames_of(path)
    landmarks, blendshapes = track_frames(frames)
    gap = measure_mouth(landmarks)[:, MOUTH.index("gap")]
    # In pixels of this clip; a still needs the mouth closed and the eyes open at once.
    still = int((gap - measure_upper_face(landmarks).lid_opening).argmin())
    return Track(landmarks, blendshapes, read_sound(path), frames[still], landmarks[still])
