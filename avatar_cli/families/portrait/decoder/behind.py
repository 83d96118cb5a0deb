"""What a photo may show behind its person: made up, for the band that a moving head uncovers."""

import cv2
import numpy as np
from numpy.typing import NDArray

_BAND = 0.30  # e behind the person's outline: so far the background is continued, deeper only its blur
_SHRINK = 2  # the band is filled this many times smaller, and the blur once more
_REACH = 5  # pixels of the smaller picture that a filled one is made from


def fill_behind(
    image: NDArray[np.uint8], hidden: NDArray[np.bool_], eye_distance: float
) -> NDArray[np.uint8]:
    """`image` [H, W, 3] with a made-up background where it is `hidden` [H, W]; elsewhere bit for bit.

    Lines that end at the person are continued behind them (Telea 2004, "An Image Inpainting Technique Based
    on the Fast Marching Method").
    """
    rows, columns = hidden.shape
    size = (max(columns // _SHRINK, 1), max(rows // _SHRINK, 1))
    known = np.asarray(cv2.resize((~hidden).astype(np.float32), size, interpolation=cv2.INTER_AREA))
    seen = cv2.resize(image * (~hidden[..., None]).view(np.uint8), size, interpolation=cv2.INTER_AREA)
    half = (max(size[0] // 2, 1), max(size[1] // 2, 1))
    weighted = cv2.resize(np.dstack([seen, known]).astype(np.float32), half, interpolation=cv2.INTER_AREA)
    spread = cv2.resize(_pull_push(np.asarray(weighted, np.float32)), size, interpolation=cv2.INTER_LINEAR)
    unknown = (known < 1).astype(np.uint8)
    depth = cv2.distanceTransform(unknown, cv2.DIST_L2, 5)
    band = unknown * (depth * _SHRINK < _BAND * eye_distance).astype(np.uint8)
    base = np.where(unknown[..., None] > 0, cv2.convertScaleAbs(spread), seen)
    filled = cv2.inpaint(base, band, _REACH, cv2.INPAINT_TELEA)
    fine = np.asarray(cv2.resize(filled, (columns, rows), interpolation=cv2.INTER_LINEAR), np.uint8)
    return np.where(hidden[..., None], fine, image)


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
