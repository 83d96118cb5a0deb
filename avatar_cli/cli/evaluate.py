"""`avatar evaluate`: how good a rendered video is, in figures and pictures."""

import io
import json as json_format
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from avatar_cli.cli.messages import say
from avatar_cli.cli.streams import TalkStream
from avatar_cli.media.input_path import unreadable
from avatar_cli.protocol.errors import InputError, UsageError

if TYPE_CHECKING:
    from avatar_cli.evaluation.quality.borders import ChunkLengths

EPILOG = "\n".join(
    (
        "[bold]Examples[/bold]\n",
        "  avatar evaluate me.mp4",
        "  avatar evaluate me.mp4 --truth interview.mp4 --html me.html",
        "  avatar evaluate me.mp4 --json - --face-model MobileFaceNet.tflite",
        "\nNothing of the video is changed, and no figure needs anything but the files named here.",
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
        "--json", metavar="FILE", help="Write the figures as JSON; - for stdout, instead of the table."
    ),
]
HtmlFile = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Write a page with figures, pictures and curves."),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks, and what libraries print.")]


def evaluate(
    video: Video,
    truth: Truth = None,
    lag: Lag = 0,
    face_model: FaceModel = None,
    phones: Phones = None,
    report: Report = None,
    json: JsonFile = None,
    html: HtmlFile = None,
    debug: Debug = False,
) -> None:
    """Measure a rendered video: lips, sync, head, blinks, seams, identity, drift."""
    if lag and truth is None:
        raise UsageError("--lag says how far the sound of --truth is off: give --truth CLIP as well.")
    for path in (video, truth, face_model):
        if path is not None:
            _require_file(path)
    if not debug:
        _silence_libraries()
    # Imported here, because `avatar --help` must not wait for what reads pictures.
    from rich.console import Console

    from avatar_cli.evaluation.quality.evaluate import Request, as_json
    from avatar_cli.evaluation.quality.evaluate import evaluate as measure
    from avatar_cli.evaluation.quality.page import page
    from avatar_cli.evaluation.quality.table import print_table

    request = Request(video, truth, lag, face_model, phones, _chunks(report))
    evaluation = measure(request, _Progress())
    if html is not None:
        html.write_text(page(evaluation), encoding="utf-8")
    text = json_format.dumps(as_json(evaluation), indent=2) + "\n"
    if json == _STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    if json is not None:
        Path(json).write_text(text, encoding="utf-8")
    to_terminal = sys.stdout.isatty()
    print_table(
        evaluation.figures,
        truth is not None,
        Console(highlight=False, width=None if to_terminal else _FILE_WIDTH),
    )


class _Progress:
    """Says on stderr how many frames were watched, every ten seconds of video."""

    EVERY = 250

    def __call__(self, path: Path, frames: int) -> None:
        if frames % self.EVERY == 0:
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
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise unreadable(path, error) from error


def _chunks(report: Path | None) -> "ChunkLengths":
    """From the report of the render, else those of the default model."""
    from avatar_cli.cli.presets import DEFAULT_PRESET, load_preset
    from avatar_cli.evaluation.quality.borders import ChunkLengths

    if report is None:
        chunks: dict[str, Any] = load_preset(DEFAULT_PRESET).defaults["chunks"]
        return ChunkLengths(chunks["frames"], chunks["interpolated"])
    try:
        generation = json_format.loads(report.read_text(encoding="utf-8"))["job"]["generation"]
        return ChunkLengths(generation["chunk_frames"], generation["interpolated_frames"])
    except OSError as error:
        raise unreadable(report, error) from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{report} is no report of a render: give what `avatar render --report` wrote."
        ) from error
