"""Learns the mean face and the linear articulatory basis from tracked clips and their mirror images."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.geometry import fit_pose, mean_shape, mirror_index, mirrored, upright
from avatar_cli.families.portrait.landmarks import LEFT_EYE, RIGHT_EYE
from avatar_cli.families.portrait.latents import MESH_POINTS
from avatar_cli.families.portrait.measures import measure_mouth, measure_upper_face
from avatar_cli.families.portrait.motion_basis import MotionBasis
from avatar_cli.families.portrait.training.clips import Track, TrackedClip, clip_of, load_track

Floats = NDArray[np.float32]

Measure = Callable[[NDArray], Floats]

# Ridge penalties on standardised measures.
MOUTH_PENALTY = 1e-4
UPPER_PENALTY = 1e-3
# Landmarks whose heights bound the window of the mouth: bridge of the nose, its base, the lips.
_BRIDGE, _NOSE_BASE, _UPPER_LIP = 195, 2, 13
_BROW_FALLOFF = (0.12, 0.42)  # e
_PROCRUSTES_ROUNDS = 3


def train_basis(media: Path, names: Sequence[str], cache: Path) -> tuple[MotionBasis, list[TrackedClip]]:
    """The basis of these clips, and the clips with latents against its mean face.

    Args:
        media: Folder with a `video` folder.
        names: Stems of the clips' file names.
        cache: Folder for the tracks.
    """
    tracks = [load_track(media, name, cache) for name in names]
    means = [_mean_mesh(track) for track in tracks]
    mirror = mirror_index(np.mean([upright(mesh) for mesh in means], axis=0))
    shape = mean_shape(means, mirror)
    clips = [clip_of(name, track, shape) for name, track in zip(names, tracks, strict=True)]
    lower_window, brow_window = region_windows(shape)
    mouth = _ridge(clips, mirror, measure_mouth, MOUTH_PENALTY) * lower_window[:, None]
    # The penalty leaves each channel a little of the others' distances; a channel must move its own alone.
    mouth = np.tensordot(np.linalg.inv(measure_mouth(mouth)), mouth, axes=1).astype(np.float32)
    brow_height = _ridge(clips, mirror, _upper_heights, UPPER_PENALTY)[0] * brow_window[:, None]
    vectors = np.concatenate([mouth, -brow_height[None], brow_height[None]])
    return MotionBasis(shape, mirror, vectors), clips


def region_windows(shape: NDArray) -> tuple[Floats, Floats]:
    """Weights [478] of mouth and brow motion: without them rare motions leak across the face.

    The lower window is 0 above the middle of the nose and 1 below its base; that of the brows is 1 around
    them and 0 at the cheeks, the temples and the hairline.
    """
    height = shape[:, 1]
    base = 0.9 * height[_NOSE_BASE] + 0.1 * height[_UPPER_LIP]
    lower = _smoothstep(height, height[_BRIDGE], base)
    brows = shape[[*LEFT_EYE.brow, *RIGHT_EYE.brow]]
    away = np.linalg.norm(shape[:, None] - brows, axis=-1).min(axis=1)
    return lower.astype(np.float32), (1 - _smoothstep(away, *_BROW_FALLOFF)).astype(np.float32)


def _mean_mesh(track: Track) -> NDArray:
    """Mean of a clip's meshes with their motion in the picture removed, in pixels."""
    mean = track.landmarks[0].astype(np.float64)
    for _ in range(_PROCRUSTES_ROUNDS):
        mean = np.mean([fit_pose(mesh, mean).to_canonical(mesh) for mesh in track.landmarks], axis=0)
    return mean


def _upper_heights(canonical: NDArray) -> Floats:
    """Heights [..., 3] of brows, upper lids and lower lids, e, down is positive.

    The lids are regressors too, so that what blinks move is not taken for a part of the brows' motion.
    """
    upper = measure_upper_face(canonical)
    return np.stack([upper.brow_y, upper.lower_lid_y - upper.lid_opening, upper.lower_lid_y], axis=-1)


def _ridge(clips: Sequence[TrackedClip], mirror: NDArray, measure: Measure, penalty: float) -> Floats:
    """Ridge regression of mesh displacement on measures, about each clip's mean: [measures, 478, 3]."""
    measures, meshes = [], []
    for clip in clips:
        for canonical in (clip.canonical, mirrored(clip.canonical, mirror)):
            values = measure(canonical)
            measures.append(values - values.mean(axis=0))
            meshes.append((canonical - canonical.mean(axis=0)).reshape(len(canonical), -1))
    x, y = np.concatenate(measures).astype(np.float64), np.concatenate(meshes).astype(np.float64)
    deviation = x.std(axis=0)
    x /= deviation
    gram = x.T @ x / len(x) + penalty * np.eye(x.shape[1])
    solution = np.linalg.solve(gram, x.T @ y / len(x)) / deviation[:, None]
    return solution.reshape(-1, MESH_POINTS, 3).astype(np.float32)


def _smoothstep(values: NDArray, low: float, high: float) -> NDArray:
    share = np.clip((values - low) / (high - low), 0, 1)
    return share * share * (3 - 2 * share)
