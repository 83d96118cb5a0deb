"""Mouth curves, wherever they come from, against those of the real person."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.quality.closures import closures, labiodental_contact
from avatar_cli.evaluation.quality.comparison import LIKENESSES
from avatar_cli.evaluation.quality.curves import FaceCurves
from avatar_cli.evaluation.quality.likeness import Likeness, likeness
from avatar_cli.evaluation.quality.people import Person
from avatar_cli.evaluation.quality.sync import lag_against

Floats = NDArray[np.floating]


@dataclass(frozen=True)
class MouthScore:
    """One mouth that speaks one recording.

    Attributes:
        lag: Frames behind the real person's mouth; None for a mouth that does not move.
        likenesses: By name, those of `comparison.LIKENESSES`.
        closed: Bilabials with closed lips, and all of them.
        contacts: Opening at each F and V, in s.d. from the mean in speech.
    """

    lag: int | None
    likenesses: dict[str, Likeness]
    closed: tuple[int, int]
    contacts: tuple[float, ...]


def mouth_curves(curves: FaceCurves) -> Floats:
    """Opening, width and jaw of a face, float [T, 3], e."""
    return np.stack([getattr(curves, name) for name in LIKENESSES], axis=1)


def score_mouth(curves: Floats, person: Person) -> MouthScore:
    """Scores curves [T, 3] as in `mouth_curves`, in time with the recording, and no shorter than it."""
    real, speech = mouth_curves(person.pairing.real), person.pairing.speech
    own = curves[: len(real)]
    moves = bool(np.ptp(own, axis=0).any())
    return MouthScore(
        lag=lag_against(own, real, speech).lag if moves else None,
        likenesses={
            name: likeness(own[:, channel], real[:, channel], speech)
            for channel, name in enumerate(LIKENESSES)
        },
        closed=closures(own[:, 0], person.phones or ()),
        contacts=tuple(labiodental_contact(own[:, 0], person.phones or (), speech)),
    )


def mean_likeness(scores: Sequence[MouthScore], name: str, attribute: str) -> float:
    """Mean over people of an attribute of `Likeness`."""
    return float(np.mean([getattr(score.likenesses[name], attribute) for score in scores]))


def closed_share(scores: Sequence[MouthScore]) -> float | None:
    """Share of all people's bilabials at which the lips meet; None where no phone times are known."""
    shut, count = np.sum([score.closed for score in scores], axis=0)
    return float(shut / count) if count else None


def lags(scores: Sequence[MouthScore]) -> list[int]:
    """Sizes of the lags, frames, of the mouths that move."""
    return [abs(score.lag) for score in scores if score.lag is not None]
