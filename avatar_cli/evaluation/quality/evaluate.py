"""Everything that can be said about one rendered video."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from avatar_cli.evaluation.quality.borders import ChunkLengths
from avatar_cli.evaluation.quality.catalogue import DEFINITIONS
from avatar_cli.evaluation.quality.comparison import compare
from avatar_cli.evaluation.quality.drift import WINDOW
from avatar_cli.evaluation.quality.figures import Definition, Figure, Measured, Verdict
from avatar_cli.evaluation.quality.identity import FaceEmbedder
from avatar_cli.evaluation.quality.measures import Facts, Measures, measure
from avatar_cli.evaluation.quality.observation import Observation, observe
from avatar_cli.evaluation.quality.pairing import Pairing, pair
from avatar_cli.evaluation.quality.phones import read_phones

Progress = Callable[[Path, int], None]  # told which video is watched and how many of its frames were

# A living head has no steady mean over seconds, and a few words fit their sound at several lags: in shorter
# videos these are measured, not judged.
_CHANGES = tuple(f"{part}_{of}_change" for part in ("mouth", "pose") for of in ("deviation", "range"))
_FRAMES_TO_JUDGE = {"av_lag": 200} | dict.fromkeys(("motion_drift", *_CHANGES, "identity_end"), 3 * WINDOW)


@dataclass(frozen=True)
class Request:
    """What to evaluate.

    Attributes:
        video: A rendered video.
        truth: The recording that its speech is from, or None.
        lag: Frames of 1/25 s by which that recording's sound lies behind its picture.
        face_model: A face-recognition network for the identity, or None.
        phones: Times of the speech sounds in the video, or None.
        chunks: Lengths of the video's chunks.
        face: Which face of the video to follow, from 1, counted from the left; None for the largest.
    """

    video: Path
    truth: Path | None
    lag: int
    face_model: Path | None
    phones: Path | None
    chunks: ChunkLengths
    face: int | None = None


@dataclass(frozen=True)
class Evaluation:
    """The figures, and what they were taken from."""

    figures: list[Figure]
    video: Observation
    truth: Observation | None
    pairing: Pairing | None
    facts: Facts


def evaluate(request: Request, progress: Progress) -> Evaluation:
    """Watches the videos and measures. Raises InputError for files that cannot be used."""
    phones = read_phones(request.phones) if request.phones else None
    embedder = FaceEmbedder(request.face_model) if request.face_model else None

    def watched(path: Path, face: int | None = None) -> Observation:
        return observe(path, embedder, lambda frames: progress(path, frames), face)

    video = watched(request.video, request.face)
    truth = watched(request.truth) if request.truth else None
    return judge(video, truth, Facts(request.lag, phones, request.chunks))


def judge(video: Observation, truth: Observation | None, facts: Facts) -> Evaluation:
    """The figures of videos that were watched; `facts.lag` is that of the recording."""
    pairing = pair(video, truth, facts.lag) if truth else None
    measures = measure(video, replace(facts, lag=0)) | (compare(pairing) if pairing else {})
    real = measure(truth, replace(facts, chunks=None)) if truth else {}
    return Evaluation(rows(measures, real, len(video.sight.curves)), video, truth, pairing, facts)


def missed(evaluation: Evaluation) -> list[Figure]:
    """The figures that do not reach what is asked at least."""
    return [figure for figure in evaluation.figures if figure.verdict is Verdict.MISSED]


def miss(figure: Figure) -> str:
    """One of them in words: `pose, velocity at chunk borders 17 % (at most 15 %)`."""
    definition = figure.definition
    assert definition.at_least is not None
    value, asked = definition.shown(figure.measured.value), definition.told_range(definition.at_least)
    return f"{definition.name} {value} ({asked})"


def rows(measures: Measures, real: Measures, frames: int) -> list[Figure]:
    """What was measured, in the order of the catalogue."""
    return [
        _figure(definition, measures[definition.key], _value(real, definition.key), frames)
        for definition in DEFINITIONS
        if definition.key in measures
    ]


def _figure(definition: Definition, measured: Measured, real: float | None, frames: int) -> Figure:
    if measured.judged and frames >= _FRAMES_TO_JUDGE.get(definition.key, 0):
        return Figure(definition, measured, real)
    return Figure(replace(definition, at_least=None, goal=None), replace(measured, judged=False), real)


def _value(measures: Measures, key: str) -> float | None:
    return measures[key].value if key in measures else None


def as_json(evaluation: Evaluation) -> dict[str, Any]:
    """The figures by key, for machines; what was not measured is null."""
    curves = evaluation.video.sight.curves
    return {
        "video": str(evaluation.video.path),
        "truth": str(evaluation.truth.path) if evaluation.truth else None,
        "frames": len(curves),
        "frames_without_a_face": int((~curves.seen).sum()),
        "faces": evaluation.video.sight.faces,
        "figures": {figure.definition.key: _entry(figure) for figure in evaluation.figures},
    }


def _entry(figure: Figure) -> dict[str, Any]:
    definition = figure.definition
    return {
        "title": definition.title,
        "value": figure.measured.value,
        "real": figure.real,
        "unit": definition.unit.strip(),
        "at_least": definition.shown_range(definition.at_least),
        "goal": definition.shown_range(definition.goal),
        "verdict": figure.verdict.value,
        "note": figure.measured.note,
    }
