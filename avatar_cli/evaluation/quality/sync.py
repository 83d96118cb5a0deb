"""Audio-visual lag: by how many frames the sound lies behind the mouth."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.correlation import Match, best_match, correlation

Floats = NDArray[np.floating]
Mask = NDArray[np.bool_]

LARGEST_LAG = 10  # frames, 0.4 s either way
# Where the sound is cut and its halves are exchanged, as shares of its length, to see what chance gives.
_CUTS = (0.35, 0.42, 0.5, 0.58, 0.65)


@dataclass(frozen=True)
class Sync:
    """How sound and mouth of one video fit.

    Attributes:
        lag: Frames by which the sound comes after the mouth, at the best fit; negative: the sound is early.
        score: Pearson correlation of the mouth's opening with the loudness of open vowels at that lag.
        in_step: The same at lag 0: where it is hardly lower, the lag is not certain, as in short videos.
        swapped: The same with sound that does not belong there, at its own best lag: what chance gives.
    """

    lag: int
    score: float
    in_step: float
    swapped: float


def sync(opening: Floats, vowels: Floats) -> Sync:
    """Lag from the video alone.

    The lag maximises the correlation of the opening with the loudness between 350 and 1200 Hz, where the
    first formant of open vowels lies, over all frames, pauses included. On six recordings of real people in
    time it finds 0 or -1 frames. As swapped sound serves the video's own, its two parts exchanged at five
    places. Judging sync by correlation alone goes back to Hershey and Movellan (1999) and Slaney and Covell
    (2000).

    Args:
        opening: Gap between the lips, float [T], any unit.
        vowels: Loudness of open vowels, float [T], any unit.
    """
    everywhere = np.ones(len(opening), bool)
    own = best_match(vowels, opening, everywhere, LARGEST_LAG)
    moved = [np.roll(vowels, round(cut * len(vowels))) for cut in _CUTS]
    chance = [best_match(sound, opening, everywhere, LARGEST_LAG).correlation for sound in moved]
    return Sync(own.lag, own.correlation, correlation(vowels, opening, everywhere), float(np.mean(chance)))


def lag_against(rendered: Floats, real: Floats, mask: Mask) -> Match:
    """Lag of a rendered mouth behind the real one, in frames, positive where the rendered one is late.

    It maximises the mean over the channels of Pearson's correlation; one channel of a short recording is
    easily led astray.

    Args:
        rendered: Curves [T, C], such as opening, width and jaw.
        real: The real person's, [T, C].
        mask: bool [T], frames that count.
    """
    lags = range(-LARGEST_LAG, LARGEST_LAG + 1)
    matches = [Match(_mean_correlation(rendered, real, mask, lag), lag) for lag in lags]
    return max(matches, key=lambda match: match.correlation)


def _mean_correlation(first: Floats, second: Floats, mask: Mask, lag: int) -> float:
    return float(np.mean([correlation(a, b, mask, lag) for a, b in zip(first.T, second.T, strict=True)]))
