"""When the pipeline switches from one network to the next, and when it brings the next one in."""

import threading
from dataclasses import dataclass, field

import pytest
import torch

from avatar_cli.protocol.job import Mode
from avatar_cli.runtime.chunks import ChunkPlan
from avatar_cli.runtime.pipeline import Graph, Job, Pipeline
from avatar_cli.stages.audio_to_video import AudioToVideoStage
from avatar_cli.stages.context import ContextStage
from avatar_cli.stages.decode import DecodeStage
from avatar_cli.stages.super_resolution import SuperResolutionStage


@dataclass
class Noted:
    """A residency that notes what is asked of it, and its own calls."""

    name: str
    notes: list[str]
    network = None

    def call(self):
        self.notes.append(self.name)

    def bring_in(self):
        pass

    def enter(self):
        self.notes.append(f"+{self.name}")

    def prefetch(self, following):
        self.notes.append(f"{self.name}>{following.name}")

    def leave(self):
        self.notes.append(f"-{self.name}")


@dataclass
class Part:
    """All three models and the decoder at once: each calls its network, and returns what it got."""

    residency: Noted
    latent_shape: tuple[int, ...] = (1,)
    fps: int = 25
    residencies: tuple[Noted, ...] = field(init=False)

    def __post_init__(self):
        self.residencies = (self.residency,)

    def open(self):
        return self

    def to_tensors(self, latents=None):
        return {}

    def encode(self, state, speech, window):
        self.residency.call()

    def release(self, state, before):
        pass

    def noise_scale(self):
        return torch.ones(1)

    def schedule(self):
        return torch.tensor([0.0, 0.5, 1.0])

    def velocity(self, x, time, frames, context):
        self.residency.call()
        return x

    def finish(self, latents, frames, context):
        return latents, latents

    def refine(self, piece, conditioning):
        self.residency.call()
        return piece.value

    def frames(self, latents):
        return list(latents)

    def render(self, latents):
        return latents.numpy()


def notes_of(mode: Mode, with_meetings: bool = False) -> str:
    notes: list[str] = []
    ear, generator, refiner = (Part(Noted(name, notes)) for name in ("ear", "a2v", "sr"))
    screen = Part(Noted("vae", []))
    graph = Graph(
        ContextStage(ear, None),
        AudioToVideoStage(generator, seed=0, border_frames=2),
        SuperResolutionStage(refiner),
        DecodeStage(screen, screen.fps),
    )
    job = Job(
        ChunkPlan(6, 3, 2),
        seed=0,
        has_frame=lambda frame: frame < 12,
        conditioning=None,
        meet=lambda: notes.append("meet") if with_meetings else None,
    )
    Pipeline(graph, job, lambda event: None, threading.Event()).run(lambda frame: None, mode)
    return " ".join(notes)


def test_audio_to_video_stays_until_something_can_be_refined_and_the_next_network_comes_under_a_last_call():
    first = "+ear +a2v ear a2v a2v>sr a2v -a2v -ear +sr sr>ear sr>a2v sr -sr"
    second = "+ear +a2v ear a2v a2v ear a2v a2v>sr a2v -a2v -ear +sr sr sr>ear sr>a2v sr -sr"
    end = "+ear +a2v -a2v -ear"
    assert notes_of(Mode.STREAMING) == f"{first} {second} {end}"


def test_in_batch_mode_each_network_comes_once():
    assert notes_of(Mode.BATCH) == "+ear +a2v " + "ear a2v a2v " * 3 + "-a2v -ear +sr sr sr sr -sr"


def test_ranks_meet_before_every_chunk_and_before_what_is_left_at_the_end():
    generating = [note for note in notes_of(Mode.STREAMING, True).split() if note in ("meet", "ear", "sr")]
    assert generating == ["meet", "ear", "sr", "meet", "ear", "meet", "ear", "sr", "sr", "meet"]
    assert notes_of(Mode.BATCH, True).split().count("meet") == 4


@pytest.mark.parametrize("mode", Mode)
def test_every_network_that_is_entered_is_left(mode: Mode):
    notes = notes_of(mode).split()
    for name in ("ear", "a2v", "sr"):
        assert notes.count(f"+{name}") == notes.count(f"-{name}")
