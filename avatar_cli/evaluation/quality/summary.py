"""The table of docs/quality.md: what is asked, what was measured, and what less would do."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from avatar_cli.evaluation.benchmark.figures import markdown_table
from avatar_cli.evaluation.quality.blinks import blinks
from avatar_cli.evaluation.quality.borders import border_figures
from avatar_cli.evaluation.quality.catalogue import BY_KEY
from avatar_cli.evaluation.quality.closures import closures, labiodental_contact
from avatar_cli.evaluation.quality.comparison import LIKENESSES, spectrum_measure
from avatar_cli.evaluation.quality.dense import LINEAR, OTHER, OWN, DenseResidual
from avatar_cli.evaluation.quality.figures import Definition, Measured, Range, Verdict
from avatar_cli.evaluation.quality.head_motion import band_rms, pooled_rms
from avatar_cli.evaluation.quality.measures import (
    Facts,
    Measures,
    constancy_measures,
    measure,
    repeat_measures,
)
from avatar_cli.evaluation.quality.mouths import MouthScore, closed_share, lags, mean_likeness
from avatar_cli.evaluation.quality.observation import Observation
from avatar_cli.evaluation.quality.people import Person
from avatar_cli.evaluation.quality.scenes import LongScene, Stillness
from avatar_cli.evaluation.seams import SeamFigures

RENDERED = "rendered"
REAL = "real people"
_LONG = (
    *("motion_drift", "mouth_deviation_change", "mouth_range_change"),
    *("pose_deviation_change", "pose_range_change", "repeat", "repeat_chance"),
    *("identity_end", "identity_within", "skin_change", "background_change"),
    *("teeth_similarity", "teeth_similarity_within"),
)
_REACHED = {
    Verdict.GOAL: "goal",
    Verdict.MET: "yes",
    Verdict.SHORT: "not the goal",
    Verdict.MISSED: "**no**",
    Verdict.NONE: "",
}


@dataclass(frozen=True)
class Row:
    """A figure and its values by column; the rendered one is judged."""

    definition: Definition
    values: Mapping[str, float | None]

    def cells(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Title, bounds, whether they are reached, and the columns."""
        definition = self.definition
        own = self.values.get(RENDERED)
        return (
            definition.title,
            definition.shown_range(definition.at_least),
            definition.shown_range(definition.goal),
            _REACHED[definition.verdict(own)],
            *(definition.shown(self.values[name]) if name in self.values else "" for name in columns),
        )


Scores = dict[str, list[MouthScore]]  # of all people, by column


def table(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """Markdown."""
    header = ("figure", "at least", "goal", "reached", *columns)
    return markdown_table(header, [row.cells(columns) for row in rows])


def mouth_rows(scores: Scores, people: Sequence[Person]) -> list[Row]:
    """Lag, likeness and closures, of the render and of what less would do."""
    moving = {name: found for name, given in scores.items() if (found := lags(given))}
    rows = [
        Row(
            Definition(
                "lag",
                "mouth behind the real person's, mean size",
                " frames",
                2,
                Range(high=1),
                Range(high=0.5),
            ),
            {name: statistics.mean(found) for name, found in moving.items()},
        ),
        Row(
            Definition("lag_worst", "... worst recording", " frames", 0, Range(high=2), Range(high=1)),
            {name: max(found) for name, found in moving.items()},
        ),
    ]
    for name in LIKENESSES:
        for attribute, key in (
            ("best", "correlation"),
            ("in_step", "correlation_in_step"),
            ("range_ratio", "range"),
        ):
            values = {column: mean_likeness(given, name, attribute) for column, given in scores.items()}
            rows.append(Row(BY_KEY[f"{name}_{key}"], values))
        if name == "opening":
            rows += _lead_rows(rows[2].values)
    closed = {name: closed_share(given) for name, given in scores.items()}
    contacts = {
        name: _mean([value for score in given for value in score.contacts]) for name, given in scores.items()
    }
    rows.append(Row(BY_KEY["closures"], closed | {REAL: _real_closures(people)}))
    rows.append(Row(BY_KEY["labiodental_contact"], contacts | {REAL: _real_contact(people)}))
    return rows


def _lead_rows(correlations: Mapping[str, float | None]) -> list[Row]:
    """Over the best of all others, and over what was rendered and tracked as the product's video was."""
    others = [name for name, value in correlations.items() if name != RENDERED and value is not None]
    alike = [name for name in others if name.endswith(RENDERED)]
    return [
        _lead_row(
            Definition("lead", "... over the best of the others", "", 3, Range(low=0.1)), correlations, others
        ),
        _lead_row(
            Definition("lead_alike", "... over the best that was rendered", "", 3), correlations, alike
        ),
    ]


def _lead_row(definition: Definition, correlations: Mapping[str, float | None], others: Sequence[str]) -> Row:
    best = max((value for name in others if (value := correlations[name]) is not None), default=None)
    own = correlations[RENDERED]
    return Row(definition, {RENDERED: None if own is None or best is None else own - best})


def _real_closures(people: Sequence[Person]) -> float | None:
    found = [closures(person.real.sight.curves.opening, person.phones or ()) for person in people]
    shut, count = np.sum(found, axis=0)
    return float(shut / count) if count else None


def _real_contact(people: Sequence[Person]) -> float | None:
    found = []
    for person in people:
        if person.real.sound is not None:
            curves = person.real.sight.curves
            found += labiodental_contact(curves.opening, person.phones or (), person.real.sound.speech)
    return _mean(found)


def _mean(values: Sequence[float]) -> float | None:
    return statistics.mean(values) if values else None


def people_rows(people: Sequence[Person]) -> list[Row]:
    """Sync by the video alone, head, blinks, identity and flicker: all people together."""
    videos, reals = [person.video for person in people], [person.real for person in people]
    measured = {
        RENDERED: [measure(video, Facts()) for video in videos],
        REAL: [measure(person.real, Facts(lag=person.clip.lag)) for person in people],
    }

    def row(key: str, over: Callable[[Iterable[float]], float], definition: Definition | None = None) -> Row:
        values = {name: _over(given, key, over) for name, given in measured.items()}
        return Row(definition or BY_KEY[key], values)

    sizes = Definition("av_lag", "sound behind the mouth, from the video alone, mean size", " frames")
    return [
        row("av_lag", lambda values: statistics.mean(map(abs, values)), sizes),
        row("av_score", statistics.mean),
        row("av_score_swapped", statistics.mean),
        *_head_rows(videos, reals),
        Row(BY_KEY["blinks"], {RENDERED: _blink_rate(videos), REAL: _blink_rate(reals)}),
        row("blink_duration", statistics.mean),
        row("identity_lowest", min),
        row("identity_mean", statistics.mean),
        row("flicker", statistics.mean),
    ]


def _over(given: Sequence[Measures], key: str, over: Callable[[Iterable[float]], float]) -> float | None:
    values = [value for measures in given if key in measures and (value := measures[key].value) is not None]
    return over(values) if values else None


def _head_rows(videos: Sequence[Observation], reals: Sequence[Observation]) -> list[Row]:
    """Deviations and spectra as if all recordings were one; every head counts from its own mean."""
    angles = {RENDERED: [v.sight.curves.angles for v in videos], REAL: [v.sight.curves.angles for v in reals]}
    deviations, spectra = {}, {}
    for name, curves in angles.items():
        frames = [len(curve) for curve in curves]
        deviations[name] = np.sqrt(
            np.average([curve.var(axis=0) for curve in curves], axis=0, weights=frames)
        )
        spectra[name] = pooled_rms([band_rms(curve) for curve in curves], frames)
    rows = [
        Row(BY_KEY[f"{angle}_deviation"], {name: float(value[axis]) for name, value in deviations.items()})
        for axis, angle in enumerate(("yaw", "pitch", "roll"))
    ]
    difference = spectrum_measure(spectra[RENDERED], spectra[REAL])
    return [*rows, Row(BY_KEY["spectrum_difference"], {RENDERED: difference.value})]


def _blink_rate(videos: Sequence[Observation]) -> float:
    found = [blinks(video.sight.curves.lids) for video in videos]
    return sum(len(each.durations) for each in found) / sum(each.minutes for each in found)


def stillness_rows(found: Stillness) -> list[Row]:
    """The worst photo."""
    music = Definition("opening_in_music", "... with music only", " %", 2, Range(high=3), Range(high=1))
    return [
        Row(BY_KEY["opening_in_silence"], {RENDERED: max(found.silence.values())}),
        Row(music, {RENDERED: max(found.music.values())}),
    ]


def long_rows(scene: LongScene) -> list[Row]:
    """Seams of the first minute, and the last minute against it."""
    rows = []
    rendered = next(iter(scene.schedules.values()))
    for part, figures in border_figures(rendered.curves, rendered.lengths).items():
        rows.append(Row(BY_KEY[f"{part}_border_position"], {RENDERED: 100 * figures.position_above}))
        rows.append(Row(BY_KEY[f"{part}_border_velocity"], {RENDERED: 100 * figures.velocity_above}))
    measured = constancy_measures(scene.sight) | repeat_measures(scene.motion)
    return rows + [Row(BY_KEY[key], {RENDERED: measured[key].value}) for key in _LONG if key in measured]


def dense_summary(left: DenseResidual) -> list[Row]:
    """What the second network leaves of real faces' motion, by the mean over people."""
    own, linear, other = (left.by_method[name] for name in (OWN, LINEAR, OTHER))
    face = Definition(
        "dense_face", "whole face, left by the second network over the linear basis", "", 2, Range(high=0.9)
    )
    lips = Definition("dense_lips", "... lips", "", 2, Range(high=1))
    tokens = Definition(
        "dense_tokens", "... whole face, over it with another's tokens", "", 2, Range(high=0.99)
    )
    return [
        Row(face, {RENDERED: own["whole face"] / linear["whole face"]}),
        Row(lips, {RENDERED: own["lips"] / linear["lips"]}),
        Row(tokens, {RENDERED: own["whole face"] / other["whole face"]}),
    ]


def people_table(people: Sequence[Person], scores: Sequence[MouthScore]) -> str:
    """Markdown, a row a recording."""
    header = (
        *("recording", "speech frames", "lag", "from the video alone", *LIKENESSES, "range", "p, b, m"),
        *("yaw, pitch, roll, s.d.", "identity, lowest"),
    )
    rows = []
    for person, score in zip(people, scores, strict=True):
        own = measure(person.video, Facts())
        head = " ".join(f"{own[f'{angle}_deviation'].value:.1f}" for angle in ("yaw", "pitch", "roll"))
        identity = own.get("identity_lowest", Measured(None)).value
        alone = own["av_lag"].value
        rows.append(
            (
                person.clip.name,
                str(int(person.pairing.speech.sum())),
                "-" if score.lag is None else f"{score.lag:+d}",
                "-" if alone is None else f"{alone:+.0f}",
                *(f"{score.likenesses[name].best:.2f}" for name in LIKENESSES),
                f"{score.likenesses['opening'].range_ratio:.2f}",
                f"{score.closed[0]} of {score.closed[1]}" if person.phones is not None else "",
                head,
                "-" if identity is None else f"{identity:.2f}",
            )
        )
    return markdown_table(header, rows)


def seam_table(scene: LongScene) -> str:
    """Markdown: jumps at borders with I chunks between N chunks, and with N chunks only."""
    header = ("chunks", "curves", "borders", "step, median", "above p95", "velocity, median", "above p95")
    rows = []
    for name, schedule in scene.schedules.items():
        borders = border_figures(schedule.curves, schedule.lengths)
        rows += [_seam_row(name, part, figures) for part, figures in borders.items()]
    return markdown_table(header, rows)


def _seam_row(chunks: str, part: str, figures: SeamFigures) -> tuple[str, ...]:
    return (
        chunks,
        part,
        str(figures.borders),
        f"{figures.position:.2f}",
        f"{100 * figures.position_above:.0f} %",
        f"{figures.velocity:.2f}",
        f"{100 * figures.velocity_above:.0f} %",
    )
