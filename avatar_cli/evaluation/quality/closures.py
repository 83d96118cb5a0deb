"""Do the lips meet at p, b and m, and does the lower lip come to the teeth at f and v?"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.quality.phones import Phone
from avatar_cli.evaluation.tracks import TRACK_FPS

Floats = NDArray[np.floating]

BILABIAL = ("P", "B", "M")
LABIODENTAL = ("F", "V")
CLOSED_SHARE = 0.25  # of the usual opening; below this the lips count as together
REACH = 0.04  # seconds around a phone, whose times are rough
# What the tracker says of closed lips: this quantile of all openings, but no more than faces at rest show.
_SHUT_QUANTILE = 0.02
_WIDEST_SHUT = 0.02  # e
_OPEN_ABOVE = 0.0022  # e over shut lips, from which a frame counts towards the usual opening


def closures(opening: Floats, phones: Sequence[Phone]) -> tuple[int, int]:
    """Bilabials with closed lips, and all bilabials.

    Closed: within 40 ms of the phone the lips come nearer than 25 % of the median opening of this video. The
    opening counts from its own 2nd percentile, or from 0.02 e for a mouth that hardly ever closes. By this
    rule real people reach 0.93.

    Args:
        opening: Gap between the inner lips, float [T] at 25 frames/s, e.
        phones: Of the same recording; those before the first frame or after the last do not count.
    """
    gap = opening - min(float(np.quantile(opening, _SHUT_QUANTILE)), _WIDEST_SHUT)
    open_frames = gap[gap > _OPEN_ABOVE]
    usual = float(np.median(open_frames)) if len(open_frames) else np.inf
    lowest = [gap[frames].min() for frames in _frames(phones, BILABIAL, len(opening))]
    return sum(bool(low < CLOSED_SHARE * usual) for low in lowest), len(lowest)


def labiodental_contact(opening: Floats, phones: Sequence[Phone], speech: NDArray[np.bool_]) -> list[float]:
    """How far below its mean the opening is at F and V: z = (x - mean) / s.d.; real people: -0.7 to -0.9.

    Args:
        opening: Gap between the inner lips, float [T] at 25 frames/s.
        phones: Of the same recording; one z is returned for each F and V.
        speech: bool [T], the frames that mean and deviation are taken over.
    """
    mean, deviation = opening[speech].mean(), opening[speech].std()
    middles = [int((p.start + p.end) / 2 * TRACK_FPS) for p in phones if p.unit in LABIODENTAL]
    inside = [frame for frame in middles if 0 <= frame < len(opening)]
    if deviation == 0:
        return [0.0 for _ in inside]
    return [float((opening[frame] - mean) / deviation) for frame in inside]


def _frames(phones: Sequence[Phone], units: Sequence[str], length: int) -> list[slice]:
    """Frames of all phones of these units, with a margin for rough times."""
    found = []
    for phone in phones:
        first = int(np.floor((phone.start - REACH) * TRACK_FPS))
        last = int(np.ceil((phone.end + REACH) * TRACK_FPS))
        if phone.unit in units and 0 <= last < length:
            found.append(slice(max(0, first), last + 1))
    return found
