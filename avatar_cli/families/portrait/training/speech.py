"""The generated part of the training speech: how much of which synthesiser, kept in files between runs."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from avatar_cli.families.portrait.training import speech_espeak, speech_flite, speech_kokoro
from avatar_cli.families.portrait.training.utterance import Utterance, load_utterances, save_utterances


@dataclass(frozen=True)
class Synthesiser:
    """A source of generated speech and the share it has in the training."""

    name: str
    generate: Callable[[random.Random], Iterator[Utterance]]
    minutes: float
    seed: int


SYNTHESISERS = (
    Synthesiser("flite", speech_flite.generate, minutes=50, seed=11),
    Synthesiser("espeak", speech_espeak.generate, minutes=40, seed=12),
    Synthesiser(
        "kokoro", partial(speech_kokoro.generate, repertoire=speech_kokoro.NEAR), minutes=20, seed=13
    ),
    Synthesiser(
        "kokoro-far", partial(speech_kokoro.generate, repertoire=speech_kokoro.FAR), minutes=24, seed=14
    ),
)
_FEWEST_UNITS = 4


def utterances_of(synthesiser: Synthesiser, folder: Path) -> list[Utterance]:
    """The synthesiser's utterances, from `folder` where an earlier run of the same settings left them."""
    path = folder / f"{synthesiser.name}-{synthesiser.minutes:g}min-seed{synthesiser.seed}.pickle"
    if not path.exists():
        save_utterances(path, _speak(synthesiser))
    return load_utterances(path)


def _speak(synthesiser: Synthesiser) -> list[Utterance]:
    spoken: list[Utterance] = []
    seconds = 0.0
    for utterance in synthesiser.generate(random.Random(synthesiser.seed)):
        if len(utterance.units) < _FEWEST_UNITS:
            continue
        spoken.append(utterance)
        seconds += utterance.seconds
        if seconds >= 60 * synthesiser.minutes:
            break
    return spoken
