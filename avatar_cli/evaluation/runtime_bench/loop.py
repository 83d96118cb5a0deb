"""Chunk loops: the synthetic family in the real pipeline, for as many chunks as are asked for."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.runtime_bench.clock import Clock, clock_of
from avatar_cli.evaluation.runtime_bench.watched import Call, Watched, watch_blocks
from avatar_cli.families.synthetic.family import Networks, SyntheticFamily, load_networks
from avatar_cli.families.synthetic.sizes import VIDEO_FPS, SyntheticSize
from avatar_cli.media.image_in import Photo
from avatar_cli.protocol.events import Event, EventSink, Interval
from avatar_cli.protocol.job import Fit, Generation, Mode, Picture
from avatar_cli.runtime.mesh import SequenceGroup
from avatar_cli.runtime.pipeline import Job, Pipeline
from avatar_cli.runtime.residency.choice import Placement
from avatar_cli.worker.peers import Meeting

_TONE = 0.1  # radians a sample
_REFERENCE_SIDE = 256  # pixels

OnChunk = Callable[[int], None]  # called with the number of chunks that super-resolution has left


@dataclass(frozen=True)
class Part:
    """What a loop runs: with decoding and publishing, or only the stages before it."""

    chunks: int
    decode: bool


@dataclass(frozen=True)
class Peers:
    """The other ranks: where all meet, and who shares tokens."""

    meeting: Meeting
    sharing: SequenceGroup


class ChunkLoop:
    """One family whose weights are placed in one way; run under `torch.no_grad()`."""

    def __init__(
        self,
        size: SyntheticSize,
        placement: Placement,
        emit: EventSink,
        folder: Path | None,
        peers: Peers,
    ) -> None:
        """Loads the networks and encodes a reference. Raises EnvironmentProblem."""
        self._meeting = peers.meeting
        self.clock: Clock = clock_of(placement.device)
        self._emit = emit
        self._rank = placement.rank
        self._calls: list[Call] = []
        self._placed = load_networks(size, placement, emit, folder, peers.sharing)
        watched = (Watched(residency, self.clock, self._calls) for residency in self._placed.all())
        self._family = SyntheticFamily(size, Networks(*watched), placement.device)
        geometry = size.geometry
        self._picture = Picture(geometry.width, geometry.height, VIDEO_FPS, Fit.CROP, "black", None)
        self._generation = Generation(
            model=size.name,
            prompt=(),
            seed=0,
            steps=geometry.steps,
            chunk_frames=geometry.chunk_frames,
            interpolated_frames=geometry.interpolated_frames,
            border_frames=geometry.border_frames,
            mode=Mode.STREAMING,
        )
        scene = np.zeros((geometry.height, geometry.width, 3), np.uint8)
        self._conditioning = self._family.encode(_photo(), scene, self._picture, ()).conditioning

    def run(self, part: Part, on_chunk: OnChunk = lambda chunks: None) -> list[Call]:
        """One job from its first chunk on; returns the calls of its networks, in order."""
        self._calls.clear()
        plan = self._family.plan(self._generation)
        stop = plan.n_chunk(part.chunks - 1).span.stop
        job = Job(
            plan,
            seed=0,
            has_frame=lambda frame: frame < stop,
            conditioning=self._conditioning,
            meet=self._meeting.wait_for_publisher,
        )
        graph = self._family.graph(self._conditioning, _Tone(), self._generation, self._picture)
        pipeline = Pipeline(graph, job, _Counting(self._emit, on_chunk), threading.Event(), self._rank)
        pipeline.run(_discard if part.decode else None)
        return list(self._calls)

    def bare_chunk(self, calls: Mapping[str, Callable[[Any], Any]]) -> Callable[[], None]:
        """The calls of one chunk's networks, without stages and pipeline; the weights must be resident."""
        placed = self._placed
        order = [placed.audio_encoder, *[placed.a2v] * self._generation.steps, placed.sr]
        order += [placed.vae] * self._generation.chunk_frames
        bare = [(calls[residency.name], residency.network) for residency in order]

        def run() -> None:
            for call, network in bare:
                call(network)

        return run

    def watch_blocks(self, emit: EventSink) -> None:
        """Emit an Interval `compute NAME.INDEX` for every forward of a block of a network of chunks."""
        for residency in self._placed.of_chunks():
            watch_blocks(residency.name, residency.network.blocks, emit, self._rank)

    def close(self) -> None:
        """Free all weights."""
        for residency in self._placed.of_chunks():
            residency.close()


class _Counting:
    """Passes events on and counts the chunks that super-resolution is done with."""

    def __init__(self, emit: EventSink, on_chunk: OnChunk) -> None:
        self._emit = emit
        self._on_chunk = on_chunk
        self._chunks = 0

    def __call__(self, event: Event) -> None:
        self._emit(event)
        if isinstance(event, Interval) and event.name == "sr":
            self._chunks += 1
            self._on_chunk(self._chunks)


class _Tone:
    """A recording without end."""

    def model_samples(self, start: int, stop: int) -> NDArray[np.float32]:
        """A sine."""
        return np.sin(_TONE * np.arange(start, stop)).astype(np.float32)

    def release_model(self, before: int) -> None:
        """Nothing is kept."""

    def covers(self, seconds: Fraction) -> bool:
        """Always."""
        return True


def _photo() -> Photo:
    pixels = np.random.default_rng(0).integers(0, 256, (_REFERENCE_SIDE, _REFERENCE_SIDE, 3), np.uint8)
    return Photo(Path("noise"), pixels, None)


def _discard(piece: Any) -> None:
    pass
