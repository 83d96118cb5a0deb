"""A piece of speech with the times of its sounds, as every source of training speech delivers it."""

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from avatar_cli.families.portrait.audio_features import SAMPLE_RATE
from avatar_cli.families.portrait.training.phones import TimedUnit


@dataclass(frozen=True)
class Utterance:
    """Speech with known sound times.

    `samples` is int16 mono at 16 kHz. `lead` is the time in seconds by which the mouth is to be ahead of the
    sound times; it absorbs the bias of whoever measured them.
    """

    samples: np.ndarray
    units: tuple[TimedUnit, ...]
    source: str
    lead: float

    @property
    def seconds(self) -> float:
        """Length of the recording."""
        return len(self.samples) / SAMPLE_RATE


def to_int16(samples: np.ndarray) -> np.ndarray:
    """Float samples in [-1, 1] as int16; louder ones are clipped."""
    return np.asarray(np.clip(samples, -1.0, 1.0) * 32000, np.int16)


def save_utterances(path: Path, utterances: Sequence[Utterance]) -> None:
    """Write utterances to `path`; an interrupted write leaves no broken file."""
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        pickle.dump(list(utterances), file, protocol=5)
    partial.replace(path)


def load_utterances(path: Path) -> list[Utterance]:
    """Read what `save_utterances` wrote. Only for files this training wrote itself."""
    with path.open("rb") as file:
        loaded: list[Utterance] = pickle.load(file)
    return loaded
