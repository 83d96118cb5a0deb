"""Whole renders in this process: the session of a rank, with the real models, decoder and encoder."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from avatar_cli.assets import asset_path
from avatar_cli.cli.configuration import configure
from avatar_cli.cli.inputs import build_job
from avatar_cli.cli.request import Files, Request
from avatar_cli.protocol.errors import Interrupted
from avatar_cli.protocol.events import Event, Progress
from avatar_cli.worker import session

REFERENCE = asset_path("demo/reference.png")
# As little work a frame as there can be: what is asserted here does not depend on how the frames look.
CHEAP = ("picture.size=64x64", "generation.steps=1", "encoding.preset=ultrafast")


@pytest.fixture(scope="session", autouse=True)
def same_sums(one_thread):
    """Frames are compared bit by bit."""


@dataclass(frozen=True)
class Rendered:
    """The video, and one hash a frame."""

    output: Path
    hashes: list[str]


@dataclass
class _Stopper:
    """Takes the events of a job and stops it once so many frames have been made."""

    after_frames: int | None
    stop: threading.Event

    def __call__(self, event: Event) -> None:
        if (
            self.after_frames is not None
            and isinstance(event, Progress)
            and event.frames >= self.after_frames
        ):
            self.stop.set()


@pytest.fixture
def render(tmp_path) -> Callable[..., Rendered]:
    """Renders the demo's person; `settings` are those of `-s`."""

    def run(speech: Path, *settings: str, stop_after: int | None = None) -> Rendered:
        output, hashes = tmp_path / "out.mp4", tmp_path / "hashes"
        files = Files(REFERENCE, speech, output, overwrite=True, frame_hashes=hashes)
        job = build_job(files, configure(Request({}, (*CHEAP, *settings))))
        stop = threading.Event()
        try:
            session.run(job, _Stopper(stop_after, stop), stop)
        except Interrupted:
            assert stop_after is not None
        return Rendered(output, hashes.read_text().splitlines())

    return run
