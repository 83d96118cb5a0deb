"""What the models hear of a recording, and how little of it is kept."""

from dataclasses import dataclass

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from avatar_cli.families.portrait.audio_encoder import LEFT_CONTEXT_FRAMES, LOOK_AHEAD_FRAMES, AudioTokens
from avatar_cli.families.portrait.audio_features import MELS_PER_FRAME, SILENCE, log_mels
from avatar_cli.families.portrait.sound import BLOCK, SpeechConditioner
from avatar_cli.runtime.chunks import ChunkPlan
from avatar_cli.runtime.span import Span
from tests.families.portrait.voices import RATE, demo_speech, white_noise

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


class Certain:
    """A detector that is as sure of a voice, or of none, whatever it hears."""

    width = 1

    def __init__(self, probability):
        self.network = self
        self._probability = probability

    def __call__(self, windows, state):
        return torch.full((len(windows),), self._probability), state


@st.composite
def plans(draw):
    n = draw(st.integers(2, 30))
    return ChunkPlan(n, draw(st.integers(0, 12)), draw(st.integers(1, n)))


@settings(max_examples=25)
@given(plans(), st.integers(1, 120), st.integers(0, 3))
def test_every_window_hears_its_own_part_and_only_a_few_windows_are_kept(plan, frames, seed):
    sound = np.random.default_rng(seed).normal(0, 0.1, frames * SAMPLES_PER_FRAME).astype(np.float32)
    reader, conditioner = Noise(sound), SpeechConditioner(LastMels(), Certain(1.0))
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
        assert len(memory.gate) <= kept + 1
        assert memory.mels.base is None and memory.gate.base is None  # a view would keep the old array


def test_models_hear_silence_where_nobody_speaks():
    sound = np.random.default_rng(0).normal(0, 0.1, 100 * SAMPLES_PER_FRAME).astype(np.float32)
    conditioner = SpeechConditioner(LastMels(), Certain(0.0))
    audio = conditioner.encode(conditioner.open(), Noise(sound), Span(-1, 50))
    assert torch.all(audio.mels == SILENCE)
    assert all(torch.all(tokens == SILENCE) for tokens in audio.tokens)


def test_voice_is_heard_as_if_there_were_no_gate_and_transitions_lie_between(family):
    networks = family._networks
    speech = demo_speech()[RATE // 2 : 5 * RATE // 2]
    sound = np.concatenate([white_noise(3), speech, white_noise(3)])

    def tokens(detector):
        conditioner = SpeechConditioner(networks.audio_encoder, detector)
        memory = conditioner.open()
        with torch.no_grad():
            return conditioner.encode(memory, Noise(sound), Span(0, 190)).tokens.tokens[0], memory

    (gated, memory), (plain, _), (silent, _) = (
        tokens(detector) for detector in (networks.voice_detector, Certain(1.0), Certain(0.0))
    )
    gate = torch.from_numpy(memory.gate[:190])
    assert torch.equal(gated[gate == 1], plain[gate == 1])
    assert torch.equal(gated[gate == 0], silent[gate == 0])
    between = (gate > 0) & (gate < 1)
    assert between.sum() > 5
    expected = silent + gate[:, None] * (plain - silent)
    assert torch.allclose(gated[between], expected[between], atol=1e-5)


def test_a_saved_memory_goes_on_bit_for_bit(family):
    networks = family._networks
    conditioner = SpeechConditioner(networks.audio_encoder, networks.voice_detector)
    sound = np.concatenate([demo_speech()[: 2 * RATE], white_noise(3), demo_speech()])
    reader, first = Noise(sound), conditioner.open()
    with torch.no_grad():
        conditioner.encode(first, reader, Span(-1, 50))
        conditioner.release(first, 40)
        second = conditioner.open()
        second.load_tensors({name: tensor.clone() for name, tensor in first.to_tensors().items()})
        for window in (Span(40, 100), Span(70, 160)):
            ours = conditioner.encode(first, Noise(sound), window)
            theirs = conditioner.encode(second, Noise(sound), window)
            assert torch.equal(ours.mels, theirs.mels)
            assert all(torch.equal(a, b) for a, b in zip(ours.tokens, theirs.tokens, strict=True))
    gate = first.gate
    assert gate.min() == 0 and gate.max() == 1  # there was something to tell apart
