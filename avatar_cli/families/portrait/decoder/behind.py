"""What a photo may show behind its person: made up, for the band that a moving head uncovers."""

import cv2
import numpy as np
from numpy.typing import NDArray

_SHRINK = 2  # the band is filled this many times smaller, and the blur once more
_OUTLINE = 0.2  # e: smaller bends of the person's outline do not bend what is mirrored in it
# Of its depth behind the outline: so far beside the person lies what is shown there. A whole mirror image
# would show poles and lights twice.
_BESIDE = 0.25
# Depth behind the outline, and how far the mirrored background is blurred there, e. What is mirrored sharply
# would look like a second edge of the person.
_FOCUS = ((0.0, 0.0), (0.05, 0.03), (0.15, 0.08), (0.40, 0.18))
_DEEPEST = 1.0  # e: from here on there is only the blur of all that surrounds the person

Floats = NDArray[np.float32]


def fill_behind(
    image: NDArray[np.uint8], hidden: NDArray[np.bool_], eye_distance: float
) -> NDArray[np.uint8]:
    """`image` [H, W, 3] with a made-up background where it is `hidden` [H, W]; elsewhere bit for bit.

    The background beside the person is mirrored in their outline, drawn out, and the deeper the softer: so it
    goes on with its own colours and ends nowhere.
    """
    rows, columns = hidden.shape
    size = (max(columns // _SHRINK, 1), max(rows // _SHRINK, 1))
    share_seen = np.asarray(cv2.resize((~hidden).astype(np.float32), size, interpolation=cv2.INTER_AREA))
    known = (share_seen == 1).astype(np.float32)
    small = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.float32)
    weighted = np.dstack([small * known[..., None], known])
    filled = _mirrored(weighted, _surroundings(weighted), eye_distance / _SHRINK)
    fine = np.asarray(cv2.resize(filled, (columns, rows), interpolation=cv2.INTER_LINEAR))
    return np.where(hidden[..., None], cv2.convertScaleAbs(fine), image).astype(np.uint8)


def _mirrored(weighted: Floats, surroundings: Floats, eye_distance: float) -> Floats:
    """Colours [h, w, 3]; `weighted` [h, w, 4] are the known ones, times their weight, and the weight."""
    depth = np.asarray(
        cv2.distanceTransform((weighted[..., 3] == 0).view(np.uint8), cv2.DIST_L2, 5), np.float32
    )
    smooth = cv2.GaussianBlur(depth, (0, 0), max(_OUTLINE * eye_distance, 1.0))
    inward_x, inward_y = (cv2.Sobel(smooth, cv2.CV_32F, *order) for order in ((1, 0), (0, 1)))
    steps = (1 + _BESIDE) * depth / np.maximum(np.hypot(inward_x, inward_y), np.float32(1e-3))
    y, x = np.indices(depth.shape, np.float32)
    mirror = (x - steps * inward_x, y - steps * inward_y)
    filled = surroundings
    # From the softest to the sharpest: each hides the ones before up to its depth.
    ends = [start for start, _ in _FOCUS[1:]] + [_DEEPEST]
    for (start, blur), end in reversed(list(zip(_FOCUS, ends, strict=True))):
        sigma = blur * eye_distance
        soft = cv2.GaussianBlur(weighted, (0, 0), sigma) if sigma > 0 else weighted
        seen = cv2.remap(soft, *mirror, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101)
        own = seen[..., :3] / np.maximum(seen[..., 3:], np.float32(1e-3))
        near = ((end - depth / eye_distance) / (end - start)).clip(0, 1)
        # A blur at a straight outline is half of what is known.
        share = near[..., None] * np.minimum(2 * seen[..., 3:], 1)
        filled = np.asarray(filled + share * (own - filled), np.float32)
    return filled


def _surroundings(weighted: Floats) -> Floats:
    """A blur of the known colours [h, w, 3] of `weighted` [h, w, 4], everywhere."""
    size = (weighted.shape[1], weighted.shape[0])
    half = (max(size[0] // 2, 1), max(size[1] // 2, 1))
    coarse = np.asarray(cv2.resize(weighted, half, interpolation=cv2.INTER_AREA), np.float32)
    return np.asarray(cv2.resize(_pull_push(coarse), size, interpolation=cv2.INTER_LINEAR), np.float32)


def _pull_push(weighted: NDArray[np.float32]) -> NDArray[np.float32]:
    """Colours [h, w, 3] for ones [h, w, 4] that come with their weight, already times it.

    What has none takes its colour from ever coarser pictures (Gortler et al. 1996, "The Lumigraph").
    """
    rows, columns = weighted.shape[:2]
    weight = weighted[..., 3:]
    own = weighted[..., :3] / np.maximum(weight, np.float32(1e-6))
    if min(rows, columns) < 2:
        total = weighted.sum(axis=(0, 1))
        return np.where(weight > 0, own, total[:3] / np.maximum(total[3], np.float32(1e-6)))
    half = ((columns + 1) // 2, (rows + 1) // 2)
    coarse = _pull_push(np.asarray(cv2.resize(weighted, half, interpolation=cv2.INTER_AREA), np.float32))
    up = cv2.resize(coarse, (columns, rows), interpolation=cv2.INTER_CUBIC)
    return np.asarray(up + np.minimum(weight, 1) * (own - up), np.float32)
