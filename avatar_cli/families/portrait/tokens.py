"""Reference tokens: what the networks attend to of the person's face, one token a mesh point."""

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.geometry import personal_pose
from avatar_cli.families.portrait.landmarks import (
    FACE_OVAL,
    INNER_LOWER_LIP,
    INNER_UPPER_LIP,
    LEFT_EYE,
    OUTER_LOWER_LIP,
    OUTER_UPPER_LIP,
    RIGHT_EYE,
)
from avatar_cli.families.portrait.latents import MOUTH, REFERENCE_TOKEN_FEATURES, REFERENCE_TOKENS
from avatar_cli.families.portrait.measures import measure_mouth

Floats = NDArray[np.float32]

_NOSE = (1, 4, 5, 195, 6, 168, 98, 327, 2)
_CHEEKS_AND_CHIN = (50, 280, 205, 425, 187, 411, 117, 346, 199)
TOKEN_POINTS = (
    *INNER_UPPER_LIP,
    *INNER_LOWER_LIP[1:-1],
    *OUTER_UPPER_LIP,
    *OUTER_LOWER_LIP[1:-1],
    *LEFT_EYE.upper_lid,
    *LEFT_EYE.lower_lid[1:-1],
    *RIGHT_EYE.upper_lid,
    *RIGHT_EYE.lower_lid[1:-1],
    *LEFT_EYE.brow,
    *RIGHT_EYE.brow,
    *FACE_OVAL[::2],
    *_NOSE,
    *_CHEEKS_AND_CHIN,
)
# Colours are read from the picture shrunk to this eye distance: a sample averages over the grain of skin.
SAMPLED_EYE_DISTANCE = 48.0
# Columns of a token that hold the point's offset from the mean face.
OFFSETS = slice(6, 9)


def reference_tokens(image: NDArray[np.uint8], landmarks: NDArray, shape: NDArray) -> Floats:
    """Tokens of one face, float32 [128, 12].

    Features of a token: canonical x, y, z of the point (e); r, g, b of the picture there (0..1); offset of
    the point from the mean face in x, y, z (e); x and y of the point on the mean face (e), which tell the
    tokens apart; the picture's own gap between the lips (e).

    Args:
        image: uint8 [H, W, 3], RGB.
        landmarks: [478, 3], pixels of the picture.
        shape: [478, 3], mean face.
    """
    pose, mesh = personal_pose(landmarks, shape)
    return assemble_tokens(mesh, sample_colours(image, landmarks, pose.scale), shape)


def assemble_tokens(mesh: NDArray, colours: NDArray, shape: NDArray) -> Floats:
    """Tokens [128, 12] of a canonical mesh [478, 3] (e) and colours [128, 3] (0..1) of its token points."""
    points = list(TOKEN_POINTS)
    tokens = np.empty((REFERENCE_TOKENS, REFERENCE_TOKEN_FEATURES), np.float32)
    tokens[:, 0:3] = mesh[points]
    tokens[:, 3:6] = colours
    tokens[:, OFFSETS] = mesh[points] - shape[points]
    tokens[:, 9:11] = shape[points, :2]
    tokens[:, 11] = measure_mouth(mesh)[MOUTH.index("gap")]
    return tokens


def sample_colours(image: NDArray[np.uint8], landmarks: NDArray, eye_distance: float) -> Floats:
    """RGB 0..1 at the token points, float32 [128, 3]; points beyond the edge take the edge's colour."""
    shrink = min(1.0, SAMPLED_EYE_DISTANCE / eye_distance)
    height, width = image.shape[:2]
    size = (max(1, round(width * shrink)), max(1, round(height * shrink)))
    small = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    scale = np.array([size[0] / width, size[1] / height])
    points = (landmarks[list(TOKEN_POINTS), :2] + 0.5) * scale - 0.5
    points = points.clip(0, np.array(size) - 1).astype(np.float32)
    sampled = cv2.remap(small, points[None, :, 0], points[None, :, 1], cv2.INTER_LINEAR)
    return (sampled[0] / np.float32(255)).astype(np.float32)
