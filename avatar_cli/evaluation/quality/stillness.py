"""How still the mouth is while nothing sounds."""

import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.silence import restlessness

SHORTEST = 25  # frames of a silence that counts
SETTLING = 10  # frames at its beginning, in which the mouth may still close


def opening_in_silence(opening: NDArray[np.floating], silent: NDArray[np.bool_]) -> float | None:
    """95th percentile of (opening - its median) over long silences, in the unit of `opening`.

    Args:
        opening: Gap between the lips, float [T] at 25 frames/s.
        silent: bool [T], frames of digital silence.

    Returns:
        None where no silence lasts a second.
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], silent, [False]]).astype(np.int8)))
    runs = [(start, stop) for start, stop in edges.reshape(-1, 2) if stop - start >= SHORTEST]
    if not runs:
        return None
    still = np.concatenate([opening[start + (SETTLING if start else 0) : stop] for start, stop in runs])
    return restlessness(still)
