"""How much of every pixel is the person: the segmentation's blurred mask, drawn along the photo's edges."""

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.decoder.spline import smoothstep

_SHRINK = 3  # the filter looks at the photo this many times smaller (He and Sun 2015, "Fast Guided Filter")
_RADIUS = 0.05  # e
_EDGE_CONTRAST = 2e-4  # variance of colours 0..1 below which the photo shows no edge
_DOUBT = (0.3, 0.7)  # probabilities of the mask that are taken for none and for certain
_CERTAIN = 0.10  # e inside the person: deeper, a pixel is the person's whatever it looks like
_LOOSE = 0.16  # e outside the person: hair reaches no further
_FAINT = (0.04, 0.96)  # opacities that are taken for none and for all

Floats = NDArray[np.float32]


def person_opacity(
    image: NDArray[np.uint8], probability: Floats, seed: tuple[int, int], eye_distance: float
) -> Floats:
    """Opacity 0..1 of the person, float32 [H, W].

    Args:
        image: uint8 [H, W, 3], RGB.
        probability: float32 [H, W], that a pixel shows a person.
        seed: (x, y) of a pixel that surely shows the one who is meant; others apart from them are background.
        eye_distance: px of 1 e.
    """
    believed = smoothstep(*_DOUBT, probability).astype(np.float32)
    solid = _without_holes(_part_with(believed > 0.5, seed))
    outward = np.asarray(cv2.distanceTransform((~solid).view(np.uint8), cv2.DIST_L2, 5), np.float32)
    inward = np.asarray(cv2.distanceTransform(solid.view(np.uint8), cv2.DIST_L2, 5), np.float32)
    near = outward < 0.5 * _LOOSE * eye_distance
    likely = np.where(solid, np.maximum(believed, 0.5), np.where(near, believed, 0)).astype(np.float32)
    guided = _guided(image, likely, max(_RADIUS * eye_distance, 2.0))
    opacity = np.maximum(guided, smoothstep(0.5 * _CERTAIN, _CERTAIN, inward / eye_distance))
    opacity *= 1 - smoothstep(0.5 * _LOOSE, _LOOSE, outward / eye_distance)
    low, high = _FAINT
    return np.asarray(((opacity - low) / (high - low)).clip(0, 1), np.float32)


def _part_with(mask: NDArray[np.bool_], seed: tuple[int, int]) -> NDArray[np.bool_]:
    _, labels = cv2.connectedComponents(mask.view(np.uint8), connectivity=4)
    x, y = seed
    return np.asarray(labels == labels[y, x])


def _without_holes(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """With what the mask encloses; the lower edge of the picture, where the person goes on, closes it too."""
    around = np.pad((~mask).view(np.uint8), ((1, 0), (1, 1)), constant_values=1)
    _, labels = cv2.connectedComponents(around, connectivity=4)
    return np.asarray(labels[1:, 1:-1] != labels[0, 0])


def _guided(image: NDArray[np.uint8], mask: Floats, radius: float) -> Floats:
    """`mask` as a local linear function of the photo's colours (He et al. 2013, "Guided Image Filtering")."""
    rows, columns = mask.shape
    size = (max(columns // _SHRINK, 1), max(rows // _SHRINK, 1))
    side = 2 * max(round(radius / _SHRINK), 1) + 1
    guide = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.float32) / np.float32(255)
    values = np.asarray(cv2.resize(mask, size, interpolation=cv2.INTER_AREA), np.float32)

    def mean(array: Floats) -> Floats:
        return np.asarray(cv2.blur(np.ascontiguousarray(array, np.float32), (side, side)), np.float32)

    mean_guide, mean_values = mean(guide), mean(values)
    together = mean(guide * values[..., None]) - mean_guide * mean_values[..., None]
    products = mean((guide[..., :, None] * guide[..., None, :]).reshape(*guide.shape[:2], 9))
    covariance = (
        products.reshape(*guide.shape[:2], 3, 3) - mean_guide[..., :, None] * mean_guide[..., None, :]
    )
    covariance += np.float32(_EDGE_CONTRAST) * np.eye(3, dtype=np.float32)
    slope = np.linalg.solve(covariance, together[..., None])[..., 0].astype(np.float32)
    offset = mean_values - (slope * mean_guide).sum(axis=-1)
    plane = np.dstack([mean(slope), mean(offset)])
    plane = np.asarray(cv2.resize(plane, (columns, rows), interpolation=cv2.INTER_LINEAR), np.float32)
    result = plane[..., 3]
    for channel in range(3):
        result = result + plane[..., channel] * (image[..., channel] * np.float32(1 / 255))
    return np.asarray(result, np.float32)
