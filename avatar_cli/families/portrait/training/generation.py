"""Motion for a recording by the product's own stages, for judging the networks without gate and renderer."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from avatar_cli.families.portrait.a2v_dit import MotionDiT, MotionDiTParams
from avatar_cli.families.portrait.audio_encoder import AudioEncoder, AudioEncoderParams
from avatar_cli.families.portrait.checkpoints import load_network
from avatar_cli.families.portrait.family import prompt_track
from avatar_cli.families.portrait.habits import USUAL, Habits
from avatar_cli.families.portrait.latents import CHANNELS, FPS
from avatar_cli.families.portrait.motion import MotionModel
from avatar_cli.families.portrait.nodding import Nods
from avatar_cli.families.portrait.sound import SpeechConditioner
from avatar_cli.families.portrait.text_encoder import TextEncoder, TextEncoderParams
from avatar_cli.protocol.job import PLAINLY, Cue, Prompted
from avatar_cli.protocol.timing import MODEL_RATE, frames_for
from avatar_cli.runtime.chunks import ChunkPlan
from avatar_cli.runtime.residency import Residency
from avatar_cli.runtime.span import Span
from avatar_cli.runtime.stage import Piece
from avatar_cli.stages.audio_to_video import AudioToVideoStage
from avatar_cli.stages.context import ContextStage
from avatar_cli.stages.values import Conditioning

STEPS = 6
PLAN = ChunkPlan(chunk_frames=48, interpolated_frames=10, border_frames=6)


@dataclass(frozen=True)
class Networks:
    """The three networks of motion."""

    audio: AudioEncoder
    text: TextEncoder
    motion: MotionDiT


@dataclass(frozen=True)
class Performance:
    """Who speaks, what is asked for and when, and the seed; `reference` is [1, 128, 12]."""

    reference: Tensor
    prompt: tuple[Cue, ...] = ()
    seed: int = 0
    habits: Habits = USUAL


def asked(*words: str, intensity: float = PLAINLY, at: Fraction = Fraction(0)) -> Cue:
    """Words of the vocabulary, all with the same intensity, from `at` seconds on."""
    return Cue(at, tuple(Prompted(word, intensity) for word in words))


def load_networks(folder: Path) -> Networks:
    """The networks whose weights lie in `folder`."""
    return Networks(
        audio=load_network(folder / "audio_encoder.safetensors", AudioEncoder, AudioEncoderParams),
        text=load_network(folder / "text_encoder.safetensors", TextEncoder, TextEncoderParams),
        motion=load_network(folder / "a2v_dit.safetensors", MotionDiT, MotionDiTParams),
    )


def expected_mouth(networks: Networks, samples: np.ndarray) -> np.ndarray:
    """The audio encoder's mean [n, 9] for float32 samples at 16 kHz."""
    ears = _ears(networks)
    frames = Span(0, frames_for(len(samples), MODEL_RATE, FPS))
    with torch.no_grad():
        return ears.encode(ears.open(), _Recording(samples), frames).tokens.mean[0].numpy()


def perform(networks: Networks, samples: np.ndarray, performance: Performance) -> np.ndarray:
    """Motion latents float32 [n, 21] of all frames of a recording (float32 samples at 16 kHz)."""
    speech = _Recording(samples)
    nods = Nods(performance.prompt, performance.seed)
    model = MotionModel(_Held("a2v_dit", networks.motion), STEPS, nods)
    listening = ContextStage(_ears(networks), speech)
    moving = AudioToVideoStage(model, performance.seed, PLAN.border_frames)
    frames = frames_for(len(samples), MODEL_RATE, FPS)
    motion = torch.zeros(frames + 2 * (PLAN.chunk_frames + PLAN.interpolated_frames), len(CHANNELS))
    with torch.no_grad():
        conditioning = _conditioning(performance, networks.text)
        heard, moved = listening.open(conditioning), moving.open(conditioning)
        for chunk in PLAN.work_order(lambda frame: speech.covers(frame / FPS)):
            for context in listening.push(heard, Piece(chunk.span, chunk)):
                for piece in moving.push(moved, context):
                    motion[piece.span.start : piece.span.stop] = piece.value
    return motion[:frames].numpy()


def _conditioning(performance: Performance, text_encoder: TextEncoder) -> Conditioning:
    """Nobody asks for the face at rest and the scene: they are for the stages that draw."""
    return Conditioning(
        tokens=performance.reference,
        prompt=prompt_track(performance.prompt, text_encoder),
        rest=torch.zeros(len(CHANNELS)),
        scene=np.zeros((0, 0, 3), np.uint8),
        reference=performance,
    )


def _ears(networks: Networks) -> SpeechConditioner:
    return SpeechConditioner(_Held("audio_encoder", networks.audio), _Held("every_voice", _EveryVoice()))


class _EveryVoice(nn.Module):
    """In the place of the voice detector: every sound is a voice, so that the gate is always open."""

    width = 1

    def forward(self, windows: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        return torch.ones(len(windows)), state


@dataclass
class _Held:
    """The residency of a network that is there already."""

    name: str
    network: nn.Module

    def bring_in(self) -> None:
        """Nothing to bring in."""

    def enter(self) -> None:
        """Nothing to bring in."""

    def prefetch(self, following: Residency) -> None:
        """Nothing to bring in."""

    def leave(self) -> None:
        """Nothing to free."""

    def close(self) -> None:
        """Nothing to free."""


@dataclass(frozen=True)
class _Recording:
    """A recording that is there in full, as a SpeechTrack: float32 [n] at MODEL_RATE."""

    samples: np.ndarray

    def model_samples(self, start: int, stop: int) -> np.ndarray:
        """Silence follows its end."""
        heard = self.samples[start:stop]
        return np.pad(heard, (0, stop - start - len(heard)))

    def release_model(self, before: int) -> None:
        """It stays."""

    def covers(self, seconds: Fraction) -> bool:
        """Whether it is longer."""
        return len(self.samples) > seconds * MODEL_RATE
