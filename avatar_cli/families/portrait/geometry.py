"""Pose of a face mesh: similarity fits, Euler angles and the canonical frame.

Canonical frame: origin at the nose root (landmark 168), x to the image's right, y down, z away from the
camera, unit e = distance between the outer eye corners (landmarks 33 and 263) in three dimensions.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.landmarks import OUTER_EYE_CORNERS, STABLE

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

ORIGIN = 168
FOREHEAD, CHIN_TIP = 10, 152
# The neck, about which a head turns: canonical position in e.
HEAD_PIVOT = (0.0, 1.15, 0.95)
_MIRRORED = np.array([-1.0, 1.0, 1.0])


@dataclass(frozen=True)
class Pose:
    """Where a head is in the picture: `pixels = scale * rotation @ canonical + translation`.

    Attributes:
        scale: Pixels per e.
        rotation: float64 [3, 3].
        translation: float64 [3], pixels.
    """

    scale: float
    rotation: Doubles
    translation: Doubles

    def to_canonical(self, points: NDArray) -> Doubles:
        """[..., 3] pixels to canonical e."""
        return (points - self.translation) @ self.rotation / self.scale

    def to_pixels(self, canonical: NDArray) -> Doubles:
        """[..., 3] canonical e to pixels."""
        return self.scale * (canonical @ self.rotation.T) + self.translation


def fit_similarity(points: NDArray, shape: NDArray, weights: NDArray | None = None) -> Pose:
    """Least-squares similarity that maps `shape` [N, 3] onto `points` [N, 3] (Umeyama 1991)."""
    weights = np.full(len(points), 1 / len(points)) if weights is None else weights / weights.sum()
    shape_centre, point_centre = weights @ shape, weights @ points
    centred = shape - shape_centre
    covariance = (weights[:, None] * (points - point_centre)).T @ centred
    u, singular, vt = np.linalg.svd(covariance)
    reflection = np.array([1.0, 1.0, np.sign(np.linalg.det(u @ vt))])
    rotation = (u * reflection) @ vt
    scale = float((singular * reflection).sum() / (weights @ (centred**2)).sum())
    return Pose(scale, rotation, point_centre - scale * rotation @ shape_centre)


def fit_pose(landmarks: NDArray, shape: NDArray, indices: Sequence[int] = STABLE) -> Pose:
    """Pose of a mesh [478, 3] in pixels against a canonical shape [478, 3], by points that hardly move."""
    chosen = list(indices)
    return fit_similarity(landmarks[chosen].astype(np.float64), shape[chosen].astype(np.float64))


def personal_pose(landmarks: NDArray, shape: NDArray) -> tuple[Pose, Doubles]:
    """Pose of a single face and its own mesh [478, 3] in the canonical frame, in units of its own e.

    The mesh keeps the offset of the fit: its nose root lies near the origin, not on it.
    """
    fitted = fit_pose(landmarks, shape)
    scale = fitted.scale * eye_distance(fitted.to_canonical(landmarks))
    pose = Pose(scale, fitted.rotation, fitted.translation)
    return pose, pose.to_canonical(landmarks)


def eye_distance(mesh: NDArray) -> float:
    """Distance between the outer eye corners of a mesh [478, 3], in its own unit."""
    first, last = OUTER_EYE_CORNERS
    return float(np.linalg.norm(mesh[last] - mesh[first]))


def rotation_matrix(yaw: float, pitch: float, roll: float) -> Doubles:
    """[3, 3] rotation Rz(roll) Ry(yaw) Rx(pitch), in radians.

    Positive yaw turns the nose to the image's right, positive pitch looks down, positive roll leans the
    head to the image's right.
    """
    cy, sy, cp, sp, cr, sr = (trig(a) for a in (yaw, pitch, roll) for trig in (math.cos, math.sin))
    about_y = np.array([[cy, 0, -sy], [0, 1, 0], [sy, 0, cy]])
    about_x = np.array([[1, 0, 0], [0, cp, -sp], [0, sp, cp]])
    about_z = np.array([[cr, -sr, 0], [sr, cr, 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


def euler_angles(rotation: NDArray) -> tuple[float, float, float]:
    """Yaw, pitch and roll in radians; inverse of `rotation_matrix` for yaws below 90 degrees."""
    yaw = math.asin(float(np.clip(rotation[2, 0], -1, 1)))
    pitch = math.atan2(rotation[2, 1], rotation[2, 2])
    roll = math.atan2(rotation[1, 0], rotation[0, 0])
    return yaw, pitch, roll


def relative_pose(pose: Pose, reference: Pose) -> Floats:
    """float32 [6] in the order of `latents.POSE`: the motion from `reference` to `pose`.

    Shifts are those of the neck (`HEAD_PIVOT`), in e of the reference.
    """
    angles = euler_angles(pose.rotation @ reference.rotation.T)
    pivot = np.array(HEAD_PIVOT)
    shift = (pose.to_pixels(pivot) - reference.to_pixels(pivot)) / reference.scale
    return np.array([*angles, *shift[:2], math.log(pose.scale / reference.scale)], np.float32)


def moved_pose(reference: Pose, motion: NDArray) -> Pose:
    """Inverse of `relative_pose`: the reference's pose after the motion [6] of `latents.POSE`.

    The depth of the neck stays that of the reference.
    """
    yaw, pitch, roll, right, down, log_scale = (float(value) for value in motion)
    rotation = rotation_matrix(yaw, pitch, roll) @ reference.rotation
    scale = reference.scale * math.exp(log_scale)
    pivot = np.array(HEAD_PIVOT)
    target = reference.to_pixels(pivot) + reference.scale * np.array([right, down, 0.0])
    return Pose(scale, rotation, target - scale * rotation @ pivot)


def mean_shape(meshes: Sequence[NDArray], mirror: NDArray, rounds: int = 5) -> Floats:
    """Symmetric generalised Procrustes mean, float32 [478, 3], in the canonical frame.

    Every mesh counts once as it is and once mirrored. The chin tip lies straight below the top of the
    forehead, which fixes the pitch.

    Args:
        meshes: Meshes [478, 3] in any similarity frame with the canonical axes' directions, roughly frontal.
        mirror: int [478], the landmark on the other side of the face.
        rounds: Passes of aligning all meshes to their mean.
    """
    every = [mesh.astype(np.float64) for mesh in meshes]
    every += [mirrored(mesh, mirror) for mesh in every]
    mean = upright(every[0])
    for _ in range(rounds):
        mean = upright(np.mean([fit_pose(mesh, mean).to_canonical(mesh) for mesh in every], axis=0))
        mean = upright((mean + mirrored(mean, mirror)) / 2)
    return mean.astype(np.float32)


def mirrored(mesh: NDArray, mirror: NDArray) -> NDArray:
    """Meshes or displacements [..., 478, 3] of the canonical frame as seen in a mirror."""
    return (mesh[..., mirror, :] * _MIRRORED).astype(mesh.dtype)


def mirror_index(shape: NDArray) -> NDArray[np.int64]:
    """int64 [478]: for every landmark its partner on the other side of a nearly symmetric canonical shape."""
    gaps = np.linalg.norm(shape[:, None] * _MIRRORED - shape[None], axis=-1)
    partner = gaps.argmin(axis=1)
    mutual = partner[partner] == np.arange(len(shape))
    return np.where(mutual, partner, np.arange(len(shape)))


def upright(mesh: NDArray) -> Doubles:
    """A mesh [478, 3] in the canonical frame, by itself: chin below forehead, eye corners level, e = 1."""
    first, last = OUTER_EYE_CORNERS
    centred = mesh - mesh[ORIGIN]
    across = centred[last] - centred[first]
    across /= np.linalg.norm(across)
    down = centred[CHIN_TIP] - centred[FOREHEAD]
    down -= across * (down @ across)
    down /= np.linalg.norm(down)
    axes = np.stack([across, down, np.cross(across, down)])
    return centred @ axes.T / eye_distance(mesh)
