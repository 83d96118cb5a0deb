"""The whole pipeline in this process, at a small size."""

import dataclasses
import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from avatar_cli.assets import asset_path
from avatar_cli.families.portrait.face_mesh import Face
from avatar_cli.families.portrait.family import PortraitFamily, load
from avatar_cli.families.portrait.tracker import FaceTracker
from avatar_cli.media.background import load_background
from avatar_cli.media.image_in import load_photo
from avatar_cli.media.speech_source import SpeechSource
from avatar_cli.protocol.job import Fit, Generation, Mode, Picture
from avatar_cli.runtime.pipeline import Graph, Job, Pipeline
from avatar_cli.runtime.stage import Piece

PICTURE = Picture(width=320, height=180, fps=Fraction(25), fit=Fit.CROP, background="black", face=None)
GENERATION = Generation(
    model="portrait",
    prompt=(),
    seed=3,
    steps=2,
    chunk_frames=24,
    interpolated_frames=8,
    border_frames=6,
    mode=Mode.STREAMING,
)


def no_events(event: Any) -> None:
    pass


@pytest.fixture(scope="session", autouse=True)
def same_sums(one_thread):
    """Frames are compared bit by bit."""


@pytest.fixture(scope="session")
def tracker() -> FaceTracker:
    return FaceTracker()


@pytest.fixture(scope="session")
def picture() -> NDArray[np.uint8]:
    """The demo photo, RGB [512, 512, 3]; not to be changed."""
    return load_photo(asset_path("demo/reference.png")).pixels


@pytest.fixture(scope="session")
def face(tracker, picture) -> Face:
    """That of the demo photo."""
    return tracker.track(picture)


@pytest.fixture(scope="session")
def family() -> PortraitFamily:
    return load(1, no_events)


@pytest.fixture(scope="session")
def encoded(family):
    with torch.no_grad():
        name = asset_path("demo/reference.png")
        scene = load_background(PICTURE.background, PICTURE.width, PICTURE.height)
        return family.encode(load_photo(name), scene, PICTURE, ())


@dataclass
class Rendered:
    """What came out: one digest a frame, in order."""

    frames: list[str] = field(default_factory=list)
    spans: list[int] = field(default_factory=list)

    def __call__(self, piece: Piece) -> None:
        self.spans.append(piece.span.start)
        self.frames.append(hashlib.blake2b(piece.value.tobytes()).hexdigest())


@dataclass
class Run:
    """One render: how, and on what."""

    family: PortraitFamily
    conditioning: Any
    generation: Generation = GENERATION
    picture: Picture = PICTURE

    def pipeline(
        self, path: Path, resume: Any = None, wrap: Callable[[Graph], Graph] = lambda graph: graph
    ) -> tuple[Pipeline, SpeechSource]:
        source = SpeechSource(path, self.picture.fps, keep_sound=False)
        graph = wrap(self.family.graph(self.conditioning, source, self.generation, self.picture))
        fps = self.family.facts.fps
        job = Job(
            self.family.plan(self.generation),
            self.generation.seed,
            lambda frame: source.covers(frame / fps),
            self.conditioning,
            resume,
        )
        return Pipeline(graph, job, no_events, threading.Event()), source

    def frames(self, path: Path, mode: Mode = Mode.STREAMING, **changes: Any) -> list[str]:
        """Digests of all frames that belong to the video."""
        run = dataclasses.replace(self, generation=dataclasses.replace(self.generation, **changes))
        pipeline, source = run.pipeline(path)
        rendered = Rendered()
        with torch.no_grad():
            pipeline.run(rendered, mode)
        source.close()
        assert rendered.spans == list(range(len(rendered.spans)))
        total = source.total_frames
        assert total is not None
        assert len(rendered.frames) >= total
        return rendered.frames[:total]


@pytest.fixture
def run(family, encoded) -> Run:
    return Run(family, encoded.conditioning)
