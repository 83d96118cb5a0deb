"""The pipeline: joins the stages of a family and runs them over the chunk plan.

Streaming goes chunk by chunk through all stages, with decode and publish in a thread of their own under the
compute of the next chunk. Batch runs the same plan stage by stage, so that each model is brought in once a
clip; the frames are the same, the memory grows with the clip.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from avatar_cli.protocol.errors import AvatarError, Interrupted, RenderFailure
from avatar_cli.protocol.events import EventSink
from avatar_cli.protocol.job import Mode
from avatar_cli.runtime.channel import Channel, StageError, Worker
from avatar_cli.runtime.chunks import Chunk, ChunkPlan, Reorder
from avatar_cli.runtime.recorder import stage as recorded
from avatar_cli.runtime.residency import resident
from avatar_cli.runtime.stage import BeforeLastCall, Piece, Stage, nothing_follows
from avatar_cli.runtime.state import RollingState

Publish = Callable[[Piece[Any]], None]


@dataclass(frozen=True)
class Graph:
    """The stages that loop over chunks, in the order of the data."""

    context: Stage[Any, Any, Any, Any]
    audio_to_video: Stage[Any, Any, Any, Any]
    super_resolution: Stage[Any, Any, Any, Any]
    decode: Stage[Any, Any, Any, Any]

    def stages(self) -> tuple[Stage[Any, Any, Any, Any], ...]:
        """All of them."""
        return (self.context, self.audio_to_video, self.super_resolution, self.decode)


@dataclass(frozen=True)
class Job:
    """What a pipeline runs on.

    `has_frame(k)` says whether frame k of the plan exists; it may wait. `resume` is a state to go on from.
    `meet` waits for the other ranks; it is called before work that the ranks share, wherever a slow reader of
    the video may have held up the one that publishes.
    """

    plan: ChunkPlan
    seed: int
    has_frame: Callable[[int], bool]
    conditioning: Any
    resume: RollingState | None = None
    meet: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Batch:
    """Pieces that leave one round of the compute stages, and the state after it where one can go on."""

    pieces: tuple[tuple[str, Piece[Any]], ...]
    state: dict[str, dict[str, Any]] | None
    next_chunk: int


class Pipeline:
    """Runs one job. The compute stages run in the calling thread, decode and publish in another one."""

    def __init__(self, graph: Graph, job: Job, emit: EventSink, stop: threading.Event, rank: int = 0) -> None:
        self._graph = graph
        self._job = job
        self._emit = emit
        self._stop = stop
        self._rank = rank
        self._states = {stage.name: stage.open(job.conditioning) for stage in graph.stages()}
        self._done = 0  # chunks in order of work
        self._next_frame = 0  # in order of time, at the family's frame rate
        if job.resume is not None:
            self._restore(job.resume)

    def run(
        self,
        publish: Publish | None,
        mode: Mode = Mode.STREAMING,
        on_checkpoint: Callable[[RollingState], None] | None = None,
    ) -> None:
        """Give every frame to `publish`, in order; None on ranks that only compute.

        In streaming mode `on_checkpoint` gets the rolling state each time a transition has been published.
        Raises AvatarError with the stage and the chunk it happened in.
        """
        try:
            if mode is Mode.STREAMING:
                self._stream(publish, on_checkpoint)
            else:
                self._batch(publish)
        except StageError as failure:
            error = _as_avatar_error(failure)
            raise error from (error.__cause__ if error is failure.error else failure.error)

    def _stream(self, publish: Publish | None, on_checkpoint: Callable[[RollingState], None] | None) -> None:
        channel: Channel[Batch] = Channel(capacity=1)

        def consume(worker: Worker) -> None:
            for batch in channel:
                if publish:
                    self._publish(batch.pieces, publish, worker)
                if on_checkpoint and batch.state is not None:
                    on_checkpoint(self._checkpoint(batch))
                del batch  # nothing of a chunk may outlive its last frame while this thread waits
            if publish:
                self._flush(publish)

        decoder = Worker("decode", consume, [channel]).start()
        try:
            for batch in self._compute(with_state=on_checkpoint is not None):
                channel.put(batch)
                del batch
            channel.close()
        except BaseException as error:
            channel.fail(error)
            decoder.join()
            raise
        decoder.join()

    def _compute(self, with_state: bool) -> Iterator[Batch]:
        """Context, audio-to-video and super-resolution, in turns that end where frames can be emitted."""
        reorder: Reorder[Piece[Any]] = Reorder(self._next_frame)
        chunks = self._remaining_chunks()
        while ready := self._generate_turn(chunks, reorder):
            pieces = []
            with self._resident(self._graph.super_resolution):
                while ready:
                    done, latents = ready.pop(0)
                    following = nothing_follows if ready else self._bring_in_generator
                    pieces += [(done.label, piece) for piece in self._refine(done.label, latents, following)]
                    del latents
            state = self._compute_state() if with_state and not len(reorder) else None
            yield Batch(tuple(pieces), state, self._done)
            del pieces
        yield Batch(tuple(self._refine_rest()), None, self._done)

    def _generate_turn(
        self, chunks: Iterator[Chunk], reorder: Reorder[Piece[Any]]
    ) -> list[tuple[Chunk, Piece[Any]]]:
        """Chunks in order of work until some can be refined: those, in order of time. None at the end."""
        with self._resident(self._graph.context, self._graph.audio_to_video):
            for chunk in chunks:
                ends_turn = chunk.span.start == reorder.next_frame
                following = self._bring_in_refiner if ends_turn else nothing_follows
                latents = self._generate(chunk, following)
                self._done += 1
                if ready := list(reorder.push(chunk, latents)):
                    return ready
        return []

    def _bring_in_refiner(self) -> None:
        _hand_over(self._graph.audio_to_video, self._graph.super_resolution)

    def _bring_in_generator(self) -> None:
        _hand_over(self._graph.super_resolution, self._graph.context, self._graph.audio_to_video)

    def _batch(self, publish: Publish | None) -> None:
        reorder: Reorder[Piece[Any]] = Reorder(self._next_frame)
        latents: list[tuple[str, Piece[Any]]] = []
        with self._resident(self._graph.context, self._graph.audio_to_video):
            for chunk in self._remaining_chunks():
                latents += [(done.label, piece) for done, piece in reorder.push(chunk, self._generate(chunk))]
        refined: list[tuple[str, Piece[Any]]] = []
        with self._resident(self._graph.super_resolution):
            for label, piece in latents:
                refined += [(label, output) for output in self._refine(label, piece)]
            refined += self._refine_rest()
        del latents
        if publish:
            worker = Worker("decode", lambda worker: self._publish_all(refined, publish, worker), []).start()
            worker.join()

    def _publish_all(self, pieces: list[tuple[str, Piece[Any]]], publish: Publish, worker: Worker) -> None:
        self._publish(pieces, publish, worker)
        self._flush(publish)

    def _remaining_chunks(self) -> Iterator[Chunk]:
        done = self._done
        for index, chunk in enumerate(self._job.plan.work_order(self._job.has_frame)):
            if self._stop.is_set():
                raise Interrupted("The render was interrupted.")
            if index >= done:
                self._job.meet()
                yield chunk

    def _generate(self, chunk: Chunk, before_last_call: BeforeLastCall = nothing_follows) -> Piece[Any]:
        context = self._one(self._graph.context, Piece(chunk.span, chunk), chunk.label)
        return self._one(self._graph.audio_to_video, context, chunk.label, before_last_call)

    def _refine(
        self, label: str, latents: Piece[Any], before_last_call: BeforeLastCall = nothing_follows
    ) -> list[Piece[Any]]:
        stage = self._graph.super_resolution
        with self._stage(stage.name, label):
            return list(stage.push(self._states[stage.name], latents, before_last_call))

    def _refine_rest(self) -> list[tuple[str, Piece[Any]]]:
        stage = self._graph.super_resolution
        self._job.meet()
        return [("", piece) for piece in stage.finish(self._states[stage.name])]

    def _one(
        self,
        stage: Stage[Any, Any, Any, Any],
        piece: Piece[Any],
        label: str,
        before_last_call: BeforeLastCall = nothing_follows,
    ) -> Piece[Any]:
        """Stages in order of work answer every chunk with exactly one piece."""
        with self._stage(stage.name, label):
            (output,) = stage.push(self._states[stage.name], piece, before_last_call)
        return output

    def _publish(self, pieces: Iterable[tuple[str, Piece[Any]]], publish: Publish, worker: Worker) -> None:
        stage = self._graph.decode
        for label, piece in pieces:
            worker.chunk = label
            with recorded(self._emit, stage.name, label, self._rank), self._resident(stage):
                for frame in stage.push(self._states[stage.name], piece):
                    if self._stop.is_set():
                        raise Interrupted("The render was interrupted.")
                    publish(frame)
                    del frame
            del piece

    def _flush(self, publish: Publish) -> None:
        stage = self._graph.decode
        for frame in stage.finish(self._states[stage.name]):
            publish(frame)

    @contextmanager
    def _stage(self, name: str, label: str) -> Iterator[None]:
        with recorded(self._emit, name, label, self._rank):
            try:
                yield
            except Exception as error:
                raise StageError(name, label, error) from error

    def _resident(self, *stages: Stage[Any, Any, Any, Any]) -> AbstractContextManager[Any]:
        return resident(*(residency for stage in stages for residency in stage.residencies))

    def _compute_state(self) -> dict[str, dict[str, Any]]:
        stages = (self._graph.context, self._graph.audio_to_video, self._graph.super_resolution)
        return {stage.name: self._states[stage.name].to_tensors() for stage in stages}

    def _checkpoint(self, batch: Batch) -> RollingState:
        decode = self._graph.decode.name
        states = {**(batch.state or {}), decode: self._states[decode].to_tensors()}
        next_frame = max((piece.span.stop for _, piece in batch.pieces), default=0)
        return RollingState(self._job.seed, batch.next_chunk, states, next_frame=next_frame)

    def _restore(self, state: RollingState) -> None:
        self._done = state.next_chunk
        self._next_frame = state.next_frame
        for name, tensors in state.stages.items():
            self._states[name].load_tensors(tensors)


def _hand_over(stage: Stage[Any, Any, Any, Any], *following: Stage[Any, Any, Any, Any]) -> None:
    """Bring in the first network of each stage that follows, under the last network of this one."""
    for last in stage.residencies[-1:]:
        for first in (network for other in following for network in other.residencies[:1]):
            last.prefetch(first)


def _as_avatar_error(failure: StageError) -> AvatarError:
    """The error a user sees: its own sentence where it has one, else what was said."""
    if isinstance(failure.error, AvatarError):
        failure.error.stage = failure.error.stage or failure.stage
        failure.error.chunk = failure.error.chunk or failure.chunk
        return failure.error
    message = f"The render failed with {type(failure.error).__name__}: {failure.error}"
    return RenderFailure(message, stage=failure.stage, chunk=failure.chunk)
