"""`avatar evaluate`: how good a rendered video is, in figures and pictures."""

import io
import json as json_format
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from avatar_cli.cli.messages import say
from avatar_cli.cli.streams import TalkStream
from avatar_cli.media.input_path import STDIN, check_is_file, is_stream, unreadable
from avatar_cli.media.output_path import check_replaceable
from avatar_cli.protocol.errors import InputError, UsageError
from avatar_cli.protocol.exit_codes import ExitCode

if TYPE_CHECKING:
    from avatar_cli.evaluation.quality.borders import ChunkLengths
    from avatar_cli.evaluation.quality.evaluate import Evaluation

EPILOG = "\n".join(
    (
        "[bold]Examples[/bold]\n",
        "  avatar evaluate me.mp4",
        "  avatar evaluate me.mp4 --truth interview.mp4 --html me.html",
        "  avatar evaluate me.mp4 --json - --face-model MobileFaceNet.tflite",
        "  avatar evaluate me.mp4 --strict && publish me.mp4",
        "\nNothing of the video is changed, and no figure needs anything but the files named here.",
        "\n[bold]Exit codes[/bold]: 0 done, 1 with --strict where a figure misses what is asked at least, "
        "2 usage, 3 bad input, 4 environment, 130 interrupted.",
    )
)

_OURS = False  # typer must not look at inputs: to it, one that cannot be read is a wrong command line
_STANDARD_OUTPUT = "-"
_FILE_WIDTH = 180  # columns of the table where it goes into a file or pipe

Video = Annotated[
    Path,
    typer.Argument(metavar="VIDEO", help="A rendered video.", show_default=False, readable=_OURS),
]
Truth = Annotated[
    Path | None,
    typer.Option(
        metavar="CLIP",
        help="The recording of a real person that VIDEO's speech is from, to compare with.",
        readable=_OURS,
    ),
]
Lag = Annotated[
    int,
    typer.Option(metavar="N", help="Frames of 1/25 s by which CLIP's sound lies behind its picture."),
]
FaceNumber = Annotated[
    int | None,
    typer.Option(
        "--face",
        metavar="N",
        min=1,
        help="Whose face is measured where VIDEO shows several, from the left. Without it: the largest.",
    ),
]
FaceModel = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Face-recognition network for the identity: TensorFlow Lite, 112x112 RGB, as MobileFaceNet.",
        readable=_OURS,
    ),
]
Phones = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Times of the speech sounds: lines of `start end NAME` in seconds, or JSON; names are ARPAbet.",
        readable=_OURS,
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="What `avatar render --report` wrote, for the lengths of the chunks. Without it: the default's.",
        readable=_OURS,
    ),
]
JsonFile = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write the figures as JSON, one object; `--json -` prints it on stdout, and nothing else there. "
        "An existing FILE is replaced.",
    ),
]
HtmlFile = Annotated[
    Path | None,
    typer.Option(
        "--html",
        metavar="FILE",
        help="Write a page with figures, pictures and curves. An existing FILE is replaced.",
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict", help="Exit code 1 where a figure misses what is asked at least; stderr names it."
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks, and what libraries print.")]


def evaluate(
    video: Video,
    truth: Truth = None,
    lag: Lag = 0,
    face: FaceNumber = None,
    face_model: FaceModel = None,
    phones: Phones = None,
    report: Report = None,
    json: JsonFile = None,
    html: HtmlFile = None,
    strict: Strict = False,
    debug: Debug = False,
) -> int:
    """Measure a rendered video: lips, sync, head, blinks, seams, identity, drift."""
    if lag and truth is None:
        raise UsageError("--lag says how far the sound of --truth is off: give --truth CLIP as well.")
    for path in (video, truth, face_model):
        if path is not None:
            _require_file(path)
    inputs = [path for path in (video, truth, face_model, phones, report) if path is not None]
    _check_outputs([html, None if json in (None, _STANDARD_OUTPUT) else Path(json)], inputs)
    if not debug:
        _silence_libraries()
    # Imported here, because `avatar --help` must not wait for what reads pictures.
    from rich.console import Console

    from avatar_cli.evaluation.quality.evaluate import Request, as_json, miss, missed
    from avatar_cli.evaluation.quality.evaluate import evaluate as measure
    from avatar_cli.evaluation.quality.page import page
    from avatar_cli.evaluation.quality.table import print_table

    evaluation = measure(
        Request(video, truth, lag, face_model, phones, chunk_lengths(report), face), _Progress()
    )
    for warning in _warnings(evaluation, face):
        say(f"warning: {warning}")
    if html is not None:
        html.write_text(page(evaluation), encoding="utf-8")
    text = json_format.dumps(as_json(evaluation), indent=2) + "\n"
    if json == _STANDARD_OUTPUT:
        sys.stdout.write(text)
    else:
        if json is not None:
            Path(json).write_text(text, encoding="utf-8")
        width = None if sys.stdout.isatty() else _FILE_WIDTH
        print_table(evaluation.figures, truth is not None, Console(highlight=False, width=width))
    misses = missed(evaluation) if strict else []
    if not misses:
        return ExitCode.DONE
    count = "1 figure misses" if len(misses) == 1 else f"{len(misses)} figures miss"
    say(f"{count}: {'; '.join(map(miss, misses))}")
    return ExitCode.FIGURE_MISSED


def _warnings(evaluation: "Evaluation", face: int | None) -> list[str]:
    """Of videos in which another face than the one meant may have been measured."""
    shown = []
    video, truth = evaluation.video, evaluation.truth
    if video.sight.faces > 1 and face is None:
        shown.append(
            f"{video.path} shows {video.sight.faces} faces and the largest is measured: choose another with "
            f"--face 1 to {video.sight.faces}, counted from the left."
        )
    if truth is not None and truth.sight.faces > 1:
        shown.append(f"{truth.path} shows {truth.sight.faces} faces and the largest is measured.")
    return shown


class _Progress:
    """Says on stderr which video is watched, and every ten seconds of it how many frames were."""

    EVERY = 250

    def __call__(self, path: Path, frames: int) -> None:
        if frames == 0:
            say(f"watching {path} ...")
        elif frames % self.EVERY == 0:
            say(f"{path}: {frames} frames watched")


def _silence_libraries() -> None:
    """What libraries in C print goes nowhere; Python's own stderr goes where it went."""
    ours, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    talk = io.BufferedWriter(io.FileIO(ours, "w"))
    sys.stderr = TalkStream(
        talk, encoding=sys.stderr.encoding, errors="backslashreplace", line_buffering=True
    )
    os.dup2(nowhere, 2)
    os.close(nowhere)


def _require_file(path: Path) -> None:
    if path == STDIN:
        raise InputError("A video is read more than once, so it cannot come from stdin: give a file.")
    try:
        check_is_file(path)
        with path.open("rb"):
            pass
    except OSError as error:
        raise unreadable(path, error) from error


def _check_outputs(outputs: Sequence[Path | None], inputs: Sequence[Path]) -> None:
    """Before minutes of measuring."""
    taken = list(inputs)
    for path in outputs:
        if path is not None and not is_stream(path):
            check_replaceable(path, taken)
            taken.append(path)


def chunk_lengths(report: Path | None) -> "ChunkLengths":
    """From the report of the render, else those of the default model.

    Raises:
        InputError: the report cannot be read, or is none.
    """
    from avatar_cli.cli.presets import DEFAULT_PRESET, load_preset
    from avatar_cli.evaluation.quality.borders import ChunkLengths

    if report is None:
        chunks: dict[str, Any] = load_preset(DEFAULT_PRESET).defaults["chunks"]
        return ChunkLengths(chunks["frames"], chunks["interpolated"])
    try:
        generation = json_format.loads(report.read_text(encoding="utf-8"))["job"]["generation"]
        return ChunkLengths(
            _frames(generation["chunk_frames"], lowest=1),
            _frames(generation["interpolated_frames"], lowest=0),
        )
    except OSError as error:
        raise unreadable(report, error) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            f"{report} is not the report of a render: give what `avatar render --report` wrote."
        ) from error


def _frames(value: object, lowest: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < lowest:
        raise ValueError(f"{value} is no number of frames")
    return value
