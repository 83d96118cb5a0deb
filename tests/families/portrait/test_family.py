"""Promises of the whole pipeline, kept by the portrait family."""

import dataclasses
import gc
import weakref

import pytest
import torch

from avatar_cli.protocol.errors import UsageError
from avatar_cli.protocol.job import Mode
from avatar_cli.runtime.pipeline import Graph
from avatar_cli.runtime.sampler import euler_sample
from avatar_cli.runtime.state import RollingState
from avatar_cli.stages import audio_to_video


def test_batch_gives_the_frames_of_streaming(run, speech):
    path = speech(4.1)
    assert run.frames(path, Mode.BATCH) == run.frames(path, Mode.STREAMING)


def test_the_beginning_does_not_depend_on_what_follows(run, speech, family):
    short, long = run.frames(speech(3.5)), run.frames(speech(6.0))
    generation = run.generation
    chunks = generation.chunk_frames + generation.interpolated_frames
    settled = 3.5 - float(chunks / family.facts.fps + family.facts.look_ahead)
    same = int(settled * 25)
    assert same > 40
    assert short[:same] == long[:same]
    assert short[-1] != long[len(short) - 1]  # the end hears that the speech goes on


def test_another_seed_gives_another_video(run, speech):
    path = speech(2.0)
    assert run.frames(path, seed=3) == run.frames(path, seed=3)
    assert run.frames(path, seed=3) != run.frames(path, seed=4)


@pytest.mark.parametrize("interpolated", [0, 8])
def test_a_render_goes_on_from_a_saved_state(run, speech, tmp_path, interpolated):
    run = dataclasses.replace(
        run, generation=dataclasses.replace(run.generation, interpolated_frames=interpolated)
    )
    path = speech(5.0)
    whole, states = [], []
    pipeline, source = run.pipeline(path)
    with torch.no_grad():
        pipeline.run(lambda piece: whole.append(piece.value.copy()), on_checkpoint=states.append)
    source.close()
    middle = states[len(states) // 2]
    middle.require_within(run.family.facts.state_bytes)
    middle.save(tmp_path / "state.safetensors")
    loaded = RollingState.load(tmp_path / "state.safetensors")
    assert 0 < loaded.next_frame < len(whole)

    rest, spans = [], []
    pipeline, source = run.pipeline(path, resume=loaded)

    def take(piece):
        spans.append(piece.span.start)
        rest.append(piece.value.copy())

    with torch.no_grad():
        pipeline.run(take)
    source.close()
    assert spans[0] == loaded.next_frame
    assert len(rest) == len(whole) - loaded.next_frame
    assert all((a == b).all() for a, b in zip(rest, whole[loaded.next_frame :], strict=True))


class Watched:
    """A stage whose outputs are watched: who of them is still alive?"""

    def __init__(self, stage, dead_or_alive):
        self._stage = stage
        self._watch = dead_or_alive
        self.name = stage.name
        self.residencies = stage.residencies
        self.open = stage.open
        self.finish = stage.finish

    def push(self, state, piece, *before_last_call):
        for output in self._stage.push(state, piece, *before_last_call):
            self._watch(self.name, output.span, output.value)
            yield output
            del output


def parts(value):
    """The tensors and arrays inside a stage's output; tensors by their memory, which a view would keep."""
    if hasattr(value, "untyped_storage"):
        return [value.untyped_storage()]
    if hasattr(value, "ctypes"):
        return [value]
    if dataclasses.is_dataclass(value):
        names = {field.name for field in dataclasses.fields(value)} - {"conditioning", "chunk", "window"}
        return [part for name in names for part in parts(getattr(value, name))]
    if isinstance(value, tuple):
        return [part for item in value for part in parts(item)]
    return []


def test_nothing_of_a_chunk_outlives_its_last_frame(run, family, speech, monkeypatch):
    alive: list[tuple[str, int, weakref.ref]] = []
    at_work = [0]  # last frame of the chunk under work, for what is made inside of a stage

    def watched_sample(velocity, noise, *rest):
        alive.append(("noise", at_work[0], weakref.ref(noise.untyped_storage())))
        return euler_sample(velocity, noise, *rest)

    def watch_activation(block, inputs, output):
        alive.append(("activations", at_work[0], weakref.ref(output.untyped_storage())))

    monkeypatch.setattr(audio_to_video, "euler_sample", watched_sample)
    networks = (family._networks.motion_dit.network, family._networks.mesh_dit.network)
    hooks = [block.register_forward_hook(watch_activation) for net in networks for block in net.blocks]

    def watch(name, span, value):
        if name == "context":
            at_work[0] = span.stop
        found = parts(value)
        assert found, f"{name} gives nothing that can be watched"
        for part in found:
            alive.append((name, span.stop, weakref.ref(part)))

    def wrap(graph):
        return Graph(*(Watched(stage, watch) for stage in graph.stages()))

    pipeline, source = run.pipeline(speech(8.0), wrap=wrap)
    leaks, counts = [], []
    chunk = run.generation.chunk_frames + run.generation.interpolated_frames

    def publish(piece):
        if piece.span.start % chunk == 0:
            gc.collect()
            # One chunk may wait in the channel, one be under work, one be kept for its transition.
            old = piece.span.start - chunk
            leaks.extend((name, stop) for name, stop, ref in alive if stop <= old and ref() is not None)
            counts.append(sum(ref() is not None for _, _, ref in alive))

    with torch.no_grad():
        pipeline.run(publish)
    source.close()
    for hook in hooks:
        hook.remove()
    watched = {name for name, _, _ in alive}
    assert watched == {"context", "noise", "activations", "a2v", "sr", "decode"}
    assert not leaks
    assert len(counts) > 5
    assert counts[-1] <= counts[2]
    gc.collect()
    del pipeline
    gc.collect()
    assert not [name for name, _, ref in alive if ref() is not None]


def test_another_persons_tokens_change_the_result(run, encoded, speech):
    path = speech(2.0)
    other = encoded.conditioning.tokens.clone()
    other[..., :3] *= torch.tensor([0.9, 1.1, 1.0])
    stranger = dataclasses.replace(run, conditioning=dataclasses.replace(encoded.conditioning, tokens=other))
    assert stranger.frames(path) != run.frames(path)


@pytest.mark.parametrize(("border", "interpolated"), [(0, 10), (1, 10), (1, 0)])
def test_a_border_too_short_to_join_chunks_is_refused(run, family, border, interpolated):
    lengths = dataclasses.replace(run.generation, border_frames=border, interpolated_frames=interpolated)
    with pytest.raises(UsageError, match=rf"chunks\.border={border} is too short"):
        family.plan(lengths)


@pytest.mark.parametrize(("frames", "border", "interpolated"), [(1, 0, 0), (2, 2, 1), (3, 2, 0), (5, 4, 30)])
def test_chunks_may_be_tiny(run, speech, frames, border, interpolated):
    lengths = {"chunk_frames": frames, "border_frames": border, "interpolated_frames": interpolated}
    assert len(run.frames(speech(0.5), **lengths)) == 13
