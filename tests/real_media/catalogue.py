"""The table of what must happen with every real file, and one render of such a file in this process."""

import re
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from avatar_cli.assets import asset_path
from avatar_cli.cli.configuration import configure
from avatar_cli.cli.inputs import build_job
from avatar_cli.cli.request import Files, Request
from avatar_cli.media.ffmpeg import ffmpeg_path
from avatar_cli.media.output_path import partial_path
from avatar_cli.protocol.errors import Interrupted
from avatar_cli.protocol.events import Event, Progress, Warned
from avatar_cli.worker import session

FPS = 25
SHOWN = 3 * FPS  # frames of each file, of N0, I0 and N1, unless all of it was asked for
EXPECTATIONS = yaml.safe_load(Path(__file__).with_name("expectations.yaml").read_text())
DEMO_PHOTO = asset_path("demo/reference.png")


@dataclass(frozen=True)
class Expectation:
    """One row of the table."""

    folder: str
    name: str
    warns: tuple[str, ...]
    refused: str | None

    def meets(self, warnings: list[str]) -> bool:
        """Whether these are the warnings, no more and no less."""
        found = [re.search(piece, text) for piece, text in zip(self.warns, warnings, strict=False)]
        return len(warnings) == len(self.warns) and all(found)


def rows(folder: str) -> list[Expectation]:
    """The table's rows on one folder."""
    return [
        Expectation(folder, name, tuple(row.get("warns", ())), row.get("refused"))
        for name, row in EXPECTATIONS[folder].items()
    ]


@dataclass
class Outcome:
    """What came of a render."""

    video: Path
    frames: int = 0
    warnings: list[str] = field(default_factory=list)


def render(reference: Path, speech: Path, folder: Path, most_frames: int | None) -> Outcome:
    """Render as `avatar render --preview` does, in this process.

    After `most_frames` frames it is told to stop, and the video is the partial file. Raises AvatarError as
    the command does for what it refuses.
    """
    output = folder / f"{reference.stem}-{speech.stem}.mp4"
    files = Files(reference, speech, output, overwrite=True)
    job = build_job(files, configure(Request({}, preview=True)))
    outcome, stop = Outcome(output), threading.Event()

    def emit(event: Event) -> None:
        if isinstance(event, Warned):
            outcome.warnings.append(event.message)
        if isinstance(event, Progress):
            outcome.frames = event.frames
            if most_frames is not None and event.frames >= most_frames:
                stop.set()

    try:
        session.run(job, emit, stop)
    except Interrupted:
        outcome.video = partial_path(output)
    return outcome


def true_length(path: Path) -> tuple[int, int]:
    """Samples and rate of a recording, by a plain run of ffmpeg."""
    argv = [ffmpeg_path(), "-v", "error", "-i", path, "-map", "0:a:0", "-ac", "1", "-f", "wav", "-"]
    wav = subprocess.run(argv, capture_output=True, check=False, stdin=subprocess.DEVNULL).stdout
    begin = wav.index(b"data") + 8
    return (len(wav) - begin) // 2, int.from_bytes(wav[24:28], "little")
