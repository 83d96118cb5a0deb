"""The clean frames that a chunk is held to are those of its neighbours, at their true positions."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from avatar_cli.runtime.chunks import ChunkPlan, Layout, Tail
from avatar_cli.runtime.stage import Piece
from avatar_cli.stages.audio_to_video import AudioToVideoStage
from avatar_cli.stages.values import Context


class FrameNumbers:
    """A model whose latents are the numbers of their own frames, and which checks the clean ones it gets.

    The final latents are those numbers negated, so that they cannot pass for what is handed on.
    """

    residencies = ()
    latent_shape = (2,)

    def noise_scale(self):
        return torch.ones(2)

    def schedule(self):
        return torch.tensor([0.0, 1.0])

    def velocity(self, x, time, frames, context):
        numbers = frames.positions + context.chunk.generated.start
        given = frames.mask[0, :, 0]
        assert (frames.clean[0, given] == numbers[given, None]).all()
        assert not frames.clean[0, ~given].any()
        clean = [
            number
            for span in (context.chunk.prefix, context.chunk.suffix)
            if span
            for number in span_of(span)
        ]
        assert numbers[given].tolist() == clean
        return torch.zeros_like(x)

    def finish(self, latents, frames, context):
        numbers = (frames.positions + context.chunk.generated.start)[:, None].expand(-1, 2).float()
        return numbers, -numbers


def span_of(span):
    return range(span.start, span.stop)


@st.composite
def plans(draw):
    layout, n = draw(st.sampled_from(Layout)), draw(st.integers(1, 12))
    b = draw(st.integers(1, n))
    longest = n - b if layout is Layout.ADJACENT else 8
    return ChunkPlan(
        chunk_frames=n,
        interpolated_frames=draw(st.integers(0, longest)),
        border_frames=b,
        first_chunk_frames=draw(st.none() | st.integers(b, 15)),
        layout=layout,
        tail=draw(st.sampled_from(Tail)),
    )


def run(plan, length, resume_after=None):
    stage = AudioToVideoStage(FrameNumbers(), seed=1, border_frames=plan.border_frames)
    state = stage.open(None)
    for done, chunk in enumerate(plan.work_order(lambda frame: frame < length)):
        if done == resume_after:
            saved = {name: tensor.clone() for name, tensor in state.to_tensors().items()}
            state = stage.open(None)
            state.load_tensors(saved)
        (piece,) = stage.push(state, Piece(chunk.span, Context(chunk, chunk.window, None, None)))
        assert piece.span == chunk.span
        assert piece.value[:, 0].tolist() == [-number for number in span_of(chunk.span)]


@settings(max_examples=60)
@given(plans(), st.integers(1, 80))
def test_anchors_are_the_frames_of_the_neighbours(plan, length):
    run(plan, length)


@pytest.mark.parametrize("resume_after", range(1, 8))
def test_anchors_survive_being_saved(resume_after):
    run(ChunkPlan(6, 3, 2), 40, resume_after)


@given(plans(), st.integers(1, 80))
@settings(max_examples=60)
def test_the_state_holds_a_few_border_frames_whatever_the_length(plan, length):
    stage = AudioToVideoStage(FrameNumbers(), seed=1, border_frames=plan.border_frames)
    state = stage.open(None)
    for chunk in plan.work_order(lambda frame: frame < length):
        list(stage.push(state, Piece(chunk.span, Context(chunk, chunk.window, None, None))))
        kept = {tensor.untyped_storage().data_ptr(): tensor for tensor in state.to_tensors().values()}
        frames = sum(tensor.untyped_storage().nbytes() for tensor in kept.values()) // 8
        assert frames <= 3 * plan.border_frames
