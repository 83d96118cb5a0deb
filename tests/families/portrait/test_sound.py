"""What the models hear of a recording, and how little of it is kept."""

from dataclasses import dataclass

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from avatar_cli.families.portrait.audio_encoder import LEFT_CONTEXT_FRAMES, LOOK_AHEAD_FRAMES, AudioTokens
from avatar_cli.families.portrait.audio_features import SILENCE, log_mels
from avatar_cli.families.portrait.sound import BLOCK, MELS_PER_FRAME, SpeechConditioner
from avatar_cli.runtime.chunks import ChunkPlan
from avatar_cli.runtime.span import Span

SAMPLES_PER_FRAME = 640


@dataclass
class Noise:
    """A recording of noise; refuses what was released."""

    sound: np.ndarray
    released: int = 0
    heard: int = 0

    def model_samples(self, start, stop):
        assert start >= self.released
        self.heard = max(self.heard, stop)
        piece = self.sound[start:stop]
        return np.pad(piece, (0, stop - start - len(piece)))

    def release_model(self, before):
        self.released = before


class LastMels:
    """An encoder whose token of a frame is the last mel frame of its look-ahead."""

    def network(self, mels):
        frames = mels.shape[1] // MELS_PER_FRAME - LOOK_AHEAD_FRAMES
        tokens = mels[:, MELS_PER_FRAME * LOOK_AHEAD_FRAMES + MELS_PER_FRAME - 1 :: MELS_PER_FRAME]
        assert tokens.shape[1] == frames
        return AudioTokens(*(tokens for _ in AudioTokens._fields))


@st.composite
def plans(draw):
    n = draw(st.integers(2, 30))
    return ChunkPlan(n, draw(st.integers(0, 12)), draw(st.integers(1, n)))


@settings(max_examples=25)
@given(plans(), st.integers(1, 120), st.integers(0, 3))
def test_every_window_hears_its_own_part_and_only_a_few_windows_are_kept(plan, frames, seed):
    sound = np.random.default_rng(seed).normal(0, 0.1, frames * SAMPLES_PER_FRAME).astype(np.float32)
    reader, conditioner = Noise(sound), SpeechConditioner(LastMels())
    memory = conditioner.open()
    longest = frames + 3 * plan.chunk_frames + LEFT_CONTEXT_FRAMES
    mels = log_mels(np.pad(sound, (0, longest * SAMPLES_PER_FRAME)))
    furthest = 0
    for chunk in plan.work_order(lambda frame: frame < frames):
        window = Span(chunk.window.start - 1, chunk.window.stop + 1)
        audio = conditioner.encode(memory, reader, window)
        wanted = np.full((MELS_PER_FRAME * len(window), mels.shape[1]), SILENCE, np.float32)
        start = MELS_PER_FRAME * window.start
        first = max(0, -start)
        wanted[first:] = mels[start + first : MELS_PER_FRAME * window.stop]
        assert np.array_equal(audio.mels[0].numpy(), wanted)
        ahead = MELS_PER_FRAME * (window.stop + LOOK_AHEAD_FRAMES) - 1
        assert torch.equal(audio.tokens.tokens[0, -1], torch.from_numpy(mels[ahead]))
        furthest = max(furthest, window.stop + LOOK_AHEAD_FRAMES)
        # A mel frame is whole 200 samples behind its middle; mels come by the frame, sound by the block.
        assert reader.heard <= furthest * SAMPLES_PER_FRAME + 200 + SAMPLES_PER_FRAME + BLOCK
        conditioner.release(memory, window.start)
        kept = furthest - window.start + LEFT_CONTEXT_FRAMES
        assert len(memory.mels) <= MELS_PER_FRAME * kept + BLOCK // 160
        assert memory.mels.base is None  # a view would keep the old array
