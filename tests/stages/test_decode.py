"""The decode stage keeps the clock: frames of the video against latents of the family."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from avatar_cli.protocol.timing import frames_for
from avatar_cli.runtime.span import Span
from avatar_cli.runtime.stage import Piece
from avatar_cli.stages.decode import DecodeStage

FAMILY_FPS = Fraction(25)


class RampDecoder:
    """Latents are their own time in seconds; a frame holds that time in milliseconds."""

    residencies = ()
    fps = FAMILY_FPS

    def frames(self, latents):
        return list(latents)

    def between(self, before, after, weight):
        return before + weight * (after - before)

    def render(self, latents):
        return np.full((1, 1, 3), latents)

    def to_tensors(self, latents):
        return {"value": torch.tensor(latents, dtype=torch.float64)}

    def from_tensors(self, tensors):
        return float(tensors["value"])


def middles(first, last):
    return [float((Fraction(2 * k + 1, 2)) / FAMILY_FPS) for k in range(first, last)]


def decode(fps, pieces, state=None):
    stage = DecodeStage(RampDecoder(), fps)
    state = state or stage.open(None)
    frames = []
    for piece in pieces:
        frames += list(stage.push(state, piece))
    frames += list(stage.finish(state))
    return frames


@pytest.mark.parametrize("fps", [*map(Fraction, (24, 25, 30, 50)), Fraction(30000, 1001)])
def test_each_frame_shows_the_moment_in_its_middle(fps):
    pieces = [Piece(Span(0, 48), middles(0, 48)), Piece(Span(48, 58), middles(48, 58))]
    frames = decode(fps, pieces)
    assert [frame.span for frame in frames] == [Span(k, k + 1) for k in range(len(frames))]
    shown = [float(frame.value[0, 0, 0]) for frame in frames]
    first, last = middles(0, 58)[0], middles(0, 58)[-1]
    wanted = [min(max(float(Fraction(2 * k + 1, 2) / fps), first), last) for k in range(len(frames))]
    assert np.allclose(shown, wanted, atol=1e-9)


@pytest.mark.parametrize("fps", [Fraction(24), Fraction(30), Fraction(50), Fraction(60000, 1001)])
def test_there_are_enough_frames_for_the_sound(fps):
    latents = 48
    samples = latents * 16000 // 25
    frames = decode(fps, [Piece(Span(0, latents), middles(0, latents))])
    assert len(frames) >= frames_for(samples, 16000, fps)


def test_cutting_the_input_elsewhere_changes_nothing():
    fps = Fraction(30)
    whole = decode(fps, [Piece(Span(0, 60), middles(0, 60))])
    cut = decode(fps, [Piece(Span(k, k + 1), middles(k, k + 1)) for k in range(60)])
    assert [float(f.value[0, 0, 0]) for f in whole] == [float(f.value[0, 0, 0]) for f in cut]


def test_a_saved_state_goes_on_where_it_stopped():
    fps = Fraction(30)
    whole = decode(fps, [Piece(Span(0, 40), middles(0, 40)), Piece(Span(40, 60), middles(40, 60))])
    stage = DecodeStage(RampDecoder(), fps)
    state = stage.open(None)
    before = list(stage.push(state, Piece(Span(0, 40), middles(0, 40))))
    later = stage.open(None)
    later.load_tensors(state.to_tensors())
    after = list(stage.push(later, Piece(Span(40, 60), middles(40, 60)))) + list(stage.finish(later))
    assert [f.span for f in before + after] == [f.span for f in whole]
    assert [f.value.item(0) for f in before + after] == [f.value.item(0) for f in whole]
