"""From any plan, frame rate and length to the frames of the video: the real pipeline with transparent models.

The models make latents that are the numbers of their own frames, so each frame of the video tells the moment
it shows.
"""

import threading
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from avatar_cli.protocol.job import Mode
from avatar_cli.protocol.timing import MODEL_RATE, frames_for
from avatar_cli.runtime.chunks import ChunkPlan, Layout, Tail
from avatar_cli.runtime.pipeline import Graph, Job, Pipeline
from avatar_cli.stages.audio_to_video import AudioToVideoStage
from avatar_cli.stages.context import ContextStage
from avatar_cli.stages.decode import DecodeStage
from avatar_cli.stages.super_resolution import SuperResolutionStage

NTSC = Fraction(30000, 1001)
FPS = st.sampled_from([*map(Fraction, (1, 12, 24, 25, 30, 50, 60)), NTSC, Fraction(24000, 1001)])


@dataclass
class Arriving:
    """Sound of a length that is not known before it has all arrived, block by block."""

    length: int
    block: int
    arrived: int = 0
    ended: bool = False

    def covers(self, seconds):
        while not self.ended and self.arrived <= seconds * MODEL_RATE:
            self.ended = self.arrived == self.length
            self.arrived = min(self.arrived + self.block, self.length)
        return self.arrived > seconds * MODEL_RATE


@dataclass
class Nothing:
    """A state that holds nothing to be saved."""

    released: int = field(default=-(10**9))

    def to_tensors(self):
        return {}

    def load_tensors(self, tensors):
        pass


class Ear:
    """Hears nothing, but notices a window that it was told to forget."""

    residencies = ()

    def open(self):
        return Nothing()

    def encode(self, state, speech, window):
        assert window.start >= state.released

    def release(self, state, before):
        state.released = max(state.released, before)


class FrameNumbers:
    """The audio-to-video model."""

    residencies = ()
    latent_shape = (1,)

    def noise_scale(self):
        return torch.ones(1)

    def schedule(self):
        return torch.tensor([0.0, 1.0])

    def velocity(self, x, time, frames, context):
        return torch.zeros_like(x)

    def finish(self, latents, frames, context):
        numbers = (frames.positions + context.chunk.generated.start)[:, None].double()
        return numbers, numbers


class AsItIs:
    """The super-resolution model."""

    residencies = ()

    def refine(self, piece, conditioning):
        return piece.value[:, 0]


class Screen:
    """The decoder: a frame holds the moment it shows, counted in latents."""

    residencies = ()

    def __init__(self, fps):
        self.fps = fps

    def frames(self, latents):
        return latents.tolist()

    def between(self, before, after, weight):
        return before + weight * (after - before)

    def render(self, latents):
        return np.array(latents)

    def to_tensors(self, latents):
        return {"value": torch.tensor(latents, dtype=torch.float64)}

    def from_tensors(self, tensors):
        return float(tensors["value"])


@st.composite
def plans(draw):
    layout, n = draw(st.sampled_from(Layout)), draw(st.integers(1, 20))
    b = draw(st.integers(0, n))
    longest = n - b if layout is Layout.ADJACENT else 12
    return ChunkPlan(
        chunk_frames=n,
        interpolated_frames=draw(st.integers(0, longest if b else 0)),
        border_frames=b,
        first_chunk_frames=draw(st.none() | st.integers(max(b, 1), 25)),
        layout=layout,
        tail=draw(st.sampled_from(Tail)),
    )


@dataclass(frozen=True)
class Case:
    plan: ChunkPlan
    family_fps: Fraction
    fps: Fraction
    samples: int
    block: int

    @property
    def frames(self):
        return frames_for(self.samples, MODEL_RATE, self.fps)

    def moments(self, frames):
        """What each frame of the video shows, counted in latents: there is none before the first and last."""
        latents = self.family_fps / self.fps  # to a frame
        middles = [(k + Fraction(1, 2)) * latents - Fraction(1, 2) for k in range(frames)]
        exists = Arriving(self.samples, self.block).covers
        chunks = self.plan.work_order(lambda frame: exists(frame / self.family_fps))
        last = max(chunk.span.stop for chunk in chunks) - 1
        return [float(min(max(middle, 0), last)) for middle in middles]

    def pipeline(self, resume=None):
        sound = Arriving(self.samples, self.block)
        graph = Graph(
            ContextStage(Ear(), sound),
            AudioToVideoStage(FrameNumbers(), 0, self.plan.border_frames),
            SuperResolutionStage(AsItIs()),
            DecodeStage(Screen(self.family_fps), self.fps),
        )
        job = Job(self.plan, 0, lambda frame: sound.covers(frame / self.family_fps), None, resume)
        return Pipeline(graph, job, lambda event: None, threading.Event())


@st.composite
def cases(draw):
    return Case(
        plan=draw(plans()),
        family_fps=draw(st.sampled_from([Fraction(25), Fraction(24), NTSC])),
        fps=draw(FPS),
        samples=draw(st.integers(1, 3 * MODEL_RATE) | st.sampled_from([1, 640, 641, 16000, 53392])),
        block=draw(st.integers(1000, 50_000)),
    )


@settings(max_examples=60)
@given(cases(), st.sampled_from(Mode))
def test_every_frame_comes_once_in_order_and_shows_the_moment_in_its_middle(case, mode):
    pieces = []
    case.pipeline().run(pieces.append, mode)
    assert [piece.span.start for piece in pieces] == list(range(len(pieces)))
    assert len(pieces) >= case.frames
    assert [float(piece.value) for piece in pieces] == pytest.approx(case.moments(len(pieces)), abs=1e-9)


@settings(max_examples=40)
@given(cases(), st.data())
def test_a_job_that_goes_on_from_any_saved_state_makes_the_same_rest(case, data):
    whole, states = [], []
    case.pipeline().run(whole.append, on_checkpoint=lambda state: states.append((len(whole), state)))
    if not states:
        return
    made, state = data.draw(st.sampled_from(states))
    rest = []
    case.pipeline(state).run(rest.append)
    assert [(piece.span, float(piece.value)) for piece in rest] == [
        (piece.span, float(piece.value)) for piece in whole[made:]
    ]
