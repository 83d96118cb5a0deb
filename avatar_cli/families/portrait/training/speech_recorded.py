"""Recorded speech of people who allow its use, cut into utterances with sound times.

transcripts.json holds what is said in the recordings under AVATAR_TEST_MEDIA/speech: words spelled as they
sound where the aligner's dictionary lacks them.
"""

import json
from pathlib import Path

import numpy as np

from avatar_cli.families.portrait.audio_features import SAMPLE_RATE
from avatar_cli.families.portrait.training.alignment import align
from avatar_cli.families.portrait.training.phones import UNKNOWN, TimedUnit
from avatar_cli.families.portrait.training.utterance import (
    Utterance,
    load_utterances,
    save_utterances,
    to_int16,
)
from avatar_cli.media.decoding import read_sound

LEAD = -0.023  # the aligner's times come early against the visible mouth
_TRANSCRIPTS = Path(__file__).with_name("transcripts.json")
_TAIL_SECONDS = 0.5
_LONGEST_SECONDS = 8.0


def recorded_utterances(media: Path, folder: Path) -> list[Utterance]:
    """All recorded utterances, aligned once and then kept in `folder`."""
    path = folder / "recorded.pickle"
    if not path.exists():
        transcripts = json.loads(_TRANSCRIPTS.read_text("utf-8"))
        spoken: list[Utterance] = []
        for name, segments in transcripts.items():
            spoken += _cut(media / "speech" / name, segments)
        save_utterances(path, spoken)
    return load_utterances(path)


def _cut(path: Path, segments: list[tuple[float, float, str]]) -> list[Utterance]:
    samples = read_sound(path, seconds=segments[-1][1] + _TAIL_SECONDS)
    units = align(samples, segments)
    utterances: list[Utterance] = []
    piece: list[TimedUnit] = []
    for unit in units:
        piece.append(unit)
        length = unit.end - piece[0].start
        if unit is units[-1] or (unit.unit == "SIL" and length > 2.0) or length > _LONGEST_SECONDS:
            utterances.append(_utterance(samples, piece, path.name))
            piece = []
    return [utterance for utterance in utterances if any(unit.unit != UNKNOWN for unit in utterance.units)]


def _utterance(samples: np.ndarray, units: list[TimedUnit], name: str) -> Utterance:
    start = units[0].start
    piece = samples[round(start * SAMPLE_RATE) : round(units[-1].end * SAMPLE_RATE)]
    moved = tuple(TimedUnit(unit, first - start, last - start) for unit, first, last in units)
    return Utterance(to_int16(piece), moved, f"recorded {name}", LEAD)
