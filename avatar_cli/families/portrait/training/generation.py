"""Motion for a recording, chunk by chunk as the product makes it, for judging the networks without the
renderer.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from avatar_cli.families.portrait.a2v_dit import MotionDiT, MotionDiTParams, noise_scale
from avatar_cli.families.portrait.audio_encoder import (
    LEFT_CONTEXT_FRAMES,
    LOOK_AHEAD_FRAMES,
    AudioEncoder,
    AudioEncoderParams,
    AudioTokens,
)
from avatar_cli.families.portrait.audio_features import MELS, MELS_PER_FRAME, SILENCE, log_mels
from avatar_cli.families.portrait.family import prompt_track
from avatar_cli.families.portrait.habits import USUAL, Habits
from avatar_cli.families.portrait.latents import CHANNELS, FPS
from avatar_cli.families.portrait.mouth import CONTEXT_FRAMES, relax_seams, shape_mouth
from avatar_cli.families.portrait.nodding import Nods
from avatar_cli.families.portrait.text_encoder import TextEncoder, TextEncoderParams
from avatar_cli.protocol.job import PLAINLY, Cue, Prompted
from avatar_cli.runtime.chunks import Chunk, ChunkKind, ChunkPlan
from avatar_cli.runtime.sampler import chunk_noise, euler_sample, uniform_schedule
from avatar_cli.runtime.weights import Checkpoint, load_whole
from avatar_cli.stages.values import PromptTrack

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
    audio = AudioEncoder(AudioEncoderParams(**_config(folder / "audio_encoder.safetensors")))
    text = TextEncoder(TextEncoderParams(**_config(folder / "text_encoder.safetensors")))
    motion = MotionDiT(MotionDiTParams(**_config(folder / "a2v_dit.safetensors")))
    for network, name in ((audio, "audio_encoder"), (text, "text_encoder"), (motion, "a2v_dit")):
        load_whole(network, Checkpoint(folder / f"{name}.safetensors"), torch.device("cpu"))
    return Networks(audio.eval(), text.eval(), motion.eval())


def _config(path: Path) -> dict[str, Any]:
    config = Checkpoint(path).config()
    return {key: tuple(value) if isinstance(value, list) else value for key, value in config.items()}


def expected_mouth(networks: Networks, samples: np.ndarray) -> np.ndarray:
    """The audio encoder's mean [n, 9] for float32 samples at 16 kHz."""
    mels = _padded_mels(samples)
    with torch.no_grad():
        mean = networks.audio(mels).mean[0, LEFT_CONTEXT_FRAMES:-LOOK_AHEAD_FRAMES]
    return mean.numpy()


def perform(networks: Networks, samples: np.ndarray, performance: Performance) -> np.ndarray:
    """Motion latents float32 [n, 21] of all frames of a recording (float32 samples at 16 kHz)."""
    frames = math.ceil(len(samples) / (16000 / 25))
    mels = _padded_mels(samples, extra_frames=2 * (PLAN.chunk_frames + PLAN.interpolated_frames))
    motion = torch.zeros(frames + 2 * (PLAN.chunk_frames + PLAN.interpolated_frames), len(CHANNELS))
    sampled = motion.clone()
    with torch.no_grad():
        track = prompt_track(performance.prompt, networks.text)
        nods = Nods(performance.prompt, performance.seed)
        for chunk in PLAN.work_order(lambda frame: frame < frames):
            latents, mouth = _chunk(networks, mels, performance, track, chunk, sampled)
            span = slice(chunk.span.start, chunk.span.stop)
            sampled[span], motion[span] = latents, nods.added(mouth, chunk.span)
    return motion[:frames].numpy()


def _chunk(
    networks: Networks,
    mels: Tensor,
    performance: Performance,
    track: PromptTrack,
    chunk: Chunk,
    sampled: Tensor,
) -> tuple[Tensor, Tensor]:
    """Latents of one chunk before and after `shape_mouth`, [n, 21] each."""
    seen = [span for span in (chunk.prefix, chunk.span, chunk.suffix) if span is not None]
    index = torch.tensor([frame for span in seen for frame in range(span.start, span.stop)])
    given = [float(span is not chunk.span) for span in seen for _ in range(len(span))]
    mask = torch.tensor(given)[None, :, None]
    window, encoded = _tokens(networks, mels, chunk)
    audio = AudioTokens(*(part[:, index - window.start] for part in encoded))
    clean = networks.motion.normalise(sampled[index])[None]
    noise = chunk_noise((1, len(index), len(CHANNELS)), performance.seed, chunk, torch.device("cpu"))
    positions = torch.tensor(chunk.positions)[None]
    prompt = track.of_frames(index.tolist(), FPS)[:, :, 0]
    habits = torch.from_numpy(performance.habits.vector())[None]
    conditions = (audio, performance.reference, prompt, habits)

    def velocity(x: Tensor, time: Tensor) -> Tensor:
        return networks.motion(x, time[None], clean, mask, positions, *conditions)

    x = euler_sample(velocity, noise * noise_scale(), uniform_schedule(STEPS), clean, mask)
    own = len(chunk.prefix or ())
    latents = networks.motion.denormalise(x[0])[own : own + len(chunk.span)]
    beside = chunk.kind is ChunkKind.I  # N chunks begin after a gap
    before = sampled[chunk.prefix.start : chunk.prefix.stop] if chunk.prefix and beside else None
    after = sampled[chunk.suffix.start : chunk.suffix.stop] if chunk.suffix else None
    latents = relax_seams(latents, before, after)
    first = chunk.span.start - CONTEXT_FRAMES - window.start
    around = slice(first, first + len(chunk.span) + 2 * CONTEXT_FRAMES)
    near = AudioTokens(*(part[:, around] for part in encoded))
    start = MELS_PER_FRAME * (LEFT_CONTEXT_FRAMES + chunk.span.start - CONTEXT_FRAMES)
    stop = start + MELS_PER_FRAME * (len(chunk.span) + 2 * CONTEXT_FRAMES)
    return latents, shape_mouth(latents, near, mels[:, start:stop])


def _tokens(networks: Networks, mels: Tensor, chunk: Chunk) -> tuple[range, AudioTokens]:
    """Encoder outputs of the chunk's window and the frames around it."""
    window = range(chunk.window.start - CONTEXT_FRAMES, chunk.window.stop + CONTEXT_FRAMES)
    start = window.start  # `mels` begin LEFT_CONTEXT_FRAMES before frame 0
    stop = window.stop + LEFT_CONTEXT_FRAMES + LOOK_AHEAD_FRAMES
    piece = mels[:, MELS_PER_FRAME * max(start, 0) : MELS_PER_FRAME * stop]
    if start < 0:
        silence = torch.full((1, -start * MELS_PER_FRAME, MELS), SILENCE)
        piece = torch.cat([silence, piece], dim=1)
    encoded = networks.audio(piece)
    inside = slice(LEFT_CONTEXT_FRAMES, -LOOK_AHEAD_FRAMES)
    return window, AudioTokens(*(part[:, inside] for part in encoded))


def _padded_mels(samples: np.ndarray, extra_frames: int = 0) -> Tensor:
    """Mels [1, 4 (40 + n + extra + 8), 48] with silence around."""
    mels = torch.from_numpy(log_mels(samples))
    before = torch.full((MELS_PER_FRAME * LEFT_CONTEXT_FRAMES, MELS), SILENCE)
    after = torch.full((MELS_PER_FRAME * (LOOK_AHEAD_FRAMES + extra_frames), MELS), SILENCE)
    return torch.cat([before, mels, after])[None]
