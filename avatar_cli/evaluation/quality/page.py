"""One HTML page to look at: figures, pictures, and curves over the sound. It needs no other file."""

import base64
from collections.abc import Sequence
from html import escape

import cv2
import numpy as np

from avatar_cli.evaluation.quality.closures import BILABIAL, LABIODENTAL
from avatar_cli.evaluation.quality.drift import WINDOW
from avatar_cli.evaluation.quality.evaluate import Evaluation
from avatar_cli.evaluation.quality.figures import Figure
from avatar_cli.evaluation.quality.plots import Line, Plot, draw
from avatar_cli.evaluation.quality.strips import Snapshot, side_by_side
from avatar_cli.evaluation.tracks import TRACK_FPS
from avatar_cli.media.decoding import Image

_FRAMES_IN_A_ROW = 300  # 12 s
_JPEG_QUALITY = 82

_STYLE = """
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 1080px; color: #1b1f24; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin-top: 2em; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; color: #667; font-weight: 500; }
td, th { padding: 2px 10px 2px 0; border-bottom: 1px solid #eceef1; vertical-align: top; }
td.value { white-space: nowrap; font-variant-numeric: tabular-nums; }
.goal { background: #d9f2df; } .met, .short { background: #fdf3cf; } .missed { background: #fbdcd9; }
.strip { display: flex; flex-wrap: wrap; gap: 4px; } figure { margin: 0; width: 110px; }
figure img { width: 110px; display: block; } figcaption { font-size: 11px; color: #667; }
svg { width: 100%; display: block; margin: 2px 0 8px; } polyline { fill: none; stroke-width: 1.4; }
.rendered, .yaw { stroke: #c2410c; } .real, .pitch { stroke: #1d4ed8; } .roll { stroke: #15803d; }
.sound { fill: #e6e9ee; } .grid { stroke: #d8dce2; stroke-width: 0.5; }
svg text { font: 10px system-ui, sans-serif; fill: #556; } svg text.title { font-weight: 600; fill: #1b1f24; }
svg text.label { text-anchor: end; } svg text.mark { fill: #7c3aed; font-weight: 600; text-anchor: middle; }
svg text.time { text-anchor: middle; }
.legend span { padding-right: 1.5em; } .legend i { font-style: normal; font-weight: 700; }
"""


def page(evaluation: Evaluation) -> str:
    """The page as text."""
    name = escape(evaluation.video.path.name)
    curves = evaluation.video.sight.curves
    seconds = len(curves) / float(TRACK_FPS)
    against = f", against {escape(evaluation.truth.path.name)}" if evaluation.truth else ""
    unseen = int((~curves.seen).sum())
    parts = [
        f"<h1>{name}</h1><p>{len(curves)} frames at {TRACK_FPS} a second, {seconds:.1f} s{against}; "
        f"{unseen} frames without a face.</p>",
        "<h2>Figures</h2>",
        _table(evaluation.figures, evaluation.truth is not None),
        "<h2>Pictures</h2>",
        _pictures(evaluation),
        "<h2>Curves over the sound</h2>",
        _curves(evaluation),
    ]
    head = f'<meta charset="utf-8"><title>{name}</title><style>{_STYLE}</style>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'


def _table(figures: Sequence[Figure], with_real: bool) -> str:
    headings = ("figure", "video", *(["real person"] if with_real else []), "at least", "goal", "remarks")
    rows = ["".join(f"<th>{heading}</th>" for heading in headings)]
    for figure in figures:
        definition = figure.definition
        real = f'<td class="value">{escape(definition.shown(figure.real))}</td>' if with_real else ""
        bounds = (definition.shown_range(bound) for bound in (definition.at_least, definition.goal))
        rows.append(
            f"<td>{escape(definition.title)}</td>"
            f'<td class="value {figure.verdict.value}">{escape(definition.shown(figure.measured.value))}</td>'
            + real
            + "".join(f'<td class="value">{escape(bound)}</td>' for bound in bounds)
            + f"<td>{escape(figure.measured.note)}</td>"
        )
    legend = "green: the goal; yellow: what is asked at least; red: less"
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table><p>{legend}</p>"


def _pictures(evaluation: Evaluation) -> str:
    shown = evaluation.video.sight.snapshots
    others = evaluation.truth.sight.snapshots if evaluation.truth else []
    pairs = side_by_side(shown, others, evaluation.facts.lag)
    words = "Below each the real person, as near in time as was kept." if evaluation.truth else ""
    figures = "".join(_figure(snapshot, other) for snapshot, other in pairs)
    return f'<p>Every {_every(shown)} frames: face and mouth. {words}</p><div class="strip">{figures}</div>'


def _every(snapshots: Sequence[Snapshot]) -> int:
    return snapshots[1].frame - snapshots[0].frame if len(snapshots) > 1 else 1


def _figure(snapshot: Snapshot, other: Snapshot | None) -> str:
    images = [snapshot.face, snapshot.mouth, *((other.face, other.mouth) if other else ())]
    caption = f"{snapshot.frame / float(TRACK_FPS):.1f} s"
    return f"<figure>{''.join(map(_image, images))}<figcaption>{caption}</figcaption></figure>"


def _image(image: Image) -> str:
    coded = cv2.imencode(".jpg", image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])[1]
    return f'<img alt="" src="data:image/jpeg;base64,{base64.b64encode(coded.tobytes()).decode()}">'


def _curves(evaluation: Evaluation) -> str:
    """All of a short video; of a longer one the first and the last minute."""
    curves, sound = evaluation.video.sight.curves, evaluation.video.sound
    level = sound.level if sound else None
    # Every sound would be more letters than there is room for: those that the lips must meet.
    marks = [
        (round(phone.start * float(TRACK_FPS)), phone.unit)
        for phone in evaluation.facts.phones or ()
        if phone.unit in BILABIAL + LABIODENTAL
    ]
    # Widths differ from person to person; openings are both zero for closed lips.
    usual_width = float(np.median(curves.width))
    plots = [
        Plot("mouth opening, e", _with_real(evaluation, "opening"), marks),
        Plot("mouth width, e", _with_real(evaluation, "width", at=usual_width)),
        Plot(
            "head yaw, pitch, roll, degrees",
            [Line(name, curves.angles[:, axis]) for axis, name in enumerate(("yaw", "pitch", "roll"))],
        ),
        Plot("height of the eye slits, e", [Line("rendered", curves.lids)]),
    ]
    legend = [("rendered", "#c2410c", "video"), ("real", "#1d4ed8", "real person")]
    angles = [("yaw", "#c2410c", "yaw"), ("pitch", "#1d4ed8", "pitch"), ("roll", "#15803d", "roll")]
    keys = "".join(
        f'<span><i style="color:{colour}">&mdash;</i> {words}</span>'
        for _, colour, words in [*legend[: 2 if evaluation.truth else 1], *angles]
    )
    drawn = [draw(plot, level, row, float(TRACK_FPS)) for row in _rows(len(curves)) for plot in plots]
    unit = "e: distance of the outer eye corners; grey: level of the sound, from -60 dB; below: seconds"
    return f'<p class="legend">{keys}</p><p>{unit}</p>{"".join(drawn)}'


def _with_real(evaluation: Evaluation, name: str, at: float | None = None) -> list[Line]:
    """The video's curve, and over it the real person's in its time; `at` moves the latter's median there."""
    own = getattr(evaluation.video.sight.curves, name)
    lines = [Line("rendered", own)]
    if evaluation.pairing is not None:
        other = getattr(evaluation.pairing.real, name)
        moved = other if at is None else other - np.median(other) + at
        start = max(0, evaluation.facts.lag)
        after = len(own) - start - len(other)
        lines.append(Line("real", np.pad(moved, (start, after), mode="edge")))
    return lines


def _rows(frames: int) -> list[range]:
    shown = [range(frames)] if frames <= 2 * WINDOW else [range(WINDOW), range(frames - WINDOW, frames)]
    return [
        range(start, min(start + _FRAMES_IN_A_ROW, part.stop))
        for part in shown
        for start in range(part.start, part.stop, _FRAMES_IN_A_ROW)
    ]
