"""The synthetic family runs through the same stages, plan and pipeline as any other."""

import dataclasses
import threading
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from avatar_cli.families.synthetic.family import SyntheticFamily, load
from avatar_cli.families.synthetic.sizes import LATENT_FPS, SyntheticSize
from avatar_cli.media.image_in import Photo
from avatar_cli.protocol.job import Cue, Fit, Generation, Mode, Picture, Prompted
from avatar_cli.runtime.pipeline import Job, Pipeline
from avatar_cli.runtime.residency.choice import Placement
from avatar_cli.runtime.state import RollingState


@dataclass(frozen=True)
class Tone:
    """A recording of some seconds of one tone."""

    seconds: float = 2.4
    loudness: float = 0.5

    def model_samples(self, start: int, stop: int) -> np.ndarray:
        times = np.arange(start, stop) / 16_000
        return np.where(times < self.seconds, self.loudness * np.sin(2000 * times), 0).astype(np.float32)

    def release_model(self, before: int) -> None:
        pass

    def covers(self, seconds: Fraction) -> bool:
        return seconds < self.seconds


@dataclass
class Rendered:
    frames: list[np.ndarray] = field(default_factory=list)
    states: list[RollingState] = field(default_factory=list)


@dataclass(frozen=True)
class Wanted:
    prompt: tuple[Cue, ...] = ()
    picture_seed: int = 0
    speech: Tone = Tone()
    seed: int = 0
    mode: Mode = Mode.STREAMING


def render(size: SyntheticSize, wanted: Wanted = Wanted(), resume: RollingState | None = None) -> Rendered:
    family = load(size, Placement(torch.device("cpu")), lambda event: None)
    geometry = size.geometry
    picture = Picture(geometry.width, geometry.height, Fraction(25), Fit.CROP, "black", None)
    generation = Generation(
        "synthetic",
        wanted.prompt,
        wanted.seed,
        geometry.steps,
        geometry.chunk_frames,
        interpolated_frames=2,
        border_frames=geometry.border_frames,
        mode=wanted.mode,
    )
    rendered = Rendered()
    with torch.no_grad():
        encoded = family.encode(photo(wanted.picture_seed), scene(size), picture, wanted.prompt)
        graph = family.graph(encoded.conditioning, wanted.speech, generation, picture)
        job = Job(
            plan=family.plan(generation),
            seed=wanted.seed,
            has_frame=lambda frame: wanted.speech.covers(frame / LATENT_FPS),
            conditioning=encoded.conditioning,
            resume=resume,
        )
        Pipeline(graph, job, lambda event: None, threading.Event()).run(
            lambda piece: rendered.frames.append(piece.value),
            wanted.mode,
            saver(wanted.mode, rendered, family),
        )
    return rendered


def saver(mode: Mode, rendered: Rendered, family: SyntheticFamily) -> Any:
    def keep(state: RollingState) -> None:
        state.require_within(family.facts.state_bytes)
        rendered.states.append(state)

    return keep if mode is Mode.STREAMING else None


def photo(seed: int) -> Photo:
    pixels = np.random.default_rng(seed).integers(0, 256, (80, 120, 3), np.uint8)
    return Photo(Path("noise"), pixels, None)


def scene(size: SyntheticSize) -> np.ndarray:
    return np.zeros((size.geometry.height, size.geometry.width, 3), np.uint8)


@pytest.fixture(scope="module")
def usual(tiny: SyntheticSize) -> Rendered:
    return render(tiny)


def test_every_latent_frame_becomes_four_frames_of_the_video(tiny, usual):
    latents = 6 + 2 + 6 + 2 + 6  # N0 I0 N1 I1 N2, over 15 latent frames of sound
    assert len(usual.frames) == 4 * latents
    for frame in usual.frames:
        assert frame.shape == (tiny.geometry.height, tiny.geometry.width, 3)
        assert frame.dtype == np.uint8
        assert frame.std() > 10


def test_batch_mode_makes_the_same_frames(tiny, usual):
    batch = render(tiny, Wanted(mode=Mode.BATCH))
    assert all(np.array_equal(a, b) for a, b in zip(batch.frames, usual.frames, strict=True))


def test_a_saved_state_goes_on_bit_for_bit(tiny, usual, tmp_path):
    state = usual.states[1]
    state.save(tmp_path / "state.safetensors")
    rest = render(tiny, resume=RollingState.load(tmp_path / "state.safetensors"))
    assert 0 < len(rest.frames) < len(usual.frames)
    first = len(usual.frames) - len(rest.frames)
    assert all(np.array_equal(a, b) for a, b in zip(rest.frames, usual.frames[first:], strict=True))


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted(prompt=(Cue(Fraction(0), (Prompted("happy", 1.0),)),)),
        Wanted(picture_seed=1),
        Wanted(speech=Tone(loudness=0.1)),
        Wanted(seed=1),
    ],
    ids=["prompt", "reference", "speech", "seed"],
)
def test_everything_that_is_given_changes_the_frames(tiny, usual, wanted):
    short = dataclasses.replace(wanted, speech=dataclasses.replace(wanted.speech, seconds=0.5))
    assert not np.array_equal(render(tiny, short).frames[0], usual.frames[0])


def test_the_start_does_not_depend_on_the_length(tiny, usual):
    short = render(tiny, Wanted(speech=Tone(seconds=1.2)))
    assert np.array_equal(short.frames[23], usual.frames[23])
