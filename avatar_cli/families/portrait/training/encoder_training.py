"""Training of the audio encoder: mouth distances and sound units from log-mels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from avatar_cli.families.portrait.audio_encoder import (
    LEFT_CONTEXT_FRAMES,
    LOOK_AHEAD_FRAMES,
    MOUTH_SCALE,
    AudioEncoder,
    AudioTokens,
)
from avatar_cli.families.portrait.latents import MOUTH
from avatar_cli.families.portrait.training.encoder_data import EncoderBatch, EncoderData, mixed_batch
from avatar_cli.families.portrait.training.optimisation import Schedule, Trainer
from avatar_cli.families.portrait.training.phones import IGNORED_LABEL, UNIT_INDEX

# How much the eye minds an error in each distance, counted in MOUTH_SCALE.
_IMPORTANCE = {
    "jaw_drop": 1.0,
    "gap": 2.0,
    "width": 1.5,
    "upper_lip_y": 0.6,
    "corner_y": 0.4,
    "lower_roll": 0.5,
    "upper_roll": 0.4,
    "shift_x": 0.05,
    "protrude": 0.5,
}
_LIP_UNITS = tuple(UNIT_INDEX[name] for name in ("P", "B", "M", "F", "V"))
_LIP_EXTRA = 3.0  # additional weight of frames where the lips meet
_VELOCITY_WEIGHT = 0.5
_UNIT_WEIGHT = 0.2


@dataclass(frozen=True)
class EncoderStage:
    """One stage of the training: how long, and the shares of the data."""

    schedule: Schedule
    sources: Sequence[tuple[EncoderData, float]]
    windows: int = 24
    frames: int = 168


def encoder_loss(tokens: AudioTokens, batch: EncoderBatch) -> tuple[Tensor, Tensor]:
    """Loss of the mouth and of the units, over the frames whose whole context lies in the window."""
    inside = slice(LEFT_CONTEXT_FRAMES, -LOOK_AHEAD_FRAMES)
    importance = torch.tensor([_IMPORTANCE[name] for name in MOUTH])
    labels = batch.labels[:, inside]
    error = (tokens.mean - batch.mouth)[:, inside].float() / torch.tensor(
        [MOUTH_SCALE[name] for name in MOUTH]
    )
    lips_meet = torch.isin(labels, torch.tensor(_LIP_UNITS))[..., None]
    position = (error**2 * importance * (1.0 + _LIP_EXTRA * lips_meet)).mean()
    velocity = ((error[:, 1:] - error[:, :-1]) ** 2 * importance).mean()
    units = functional.cross_entropy(
        tokens.units[:, inside].float().flatten(0, 1), labels.flatten(), ignore_index=IGNORED_LABEL
    )
    return position + _VELOCITY_WEIGHT * velocity, units


def train_encoder(encoder: AudioEncoder, stages: Sequence[EncoderStage], seed: int) -> AudioEncoder:
    """Train in stages, each going on from the averaged weights of the one before."""
    rng = np.random.default_rng(seed)
    for stage in stages:
        trainer = Trainer(encoder, stage.schedule)
        for _ in trainer.steps():
            batch = mixed_batch(stage.sources, stage.windows, stage.frames, rng)
            with torch.autocast("cpu", torch.bfloat16):
                tokens = encoder(batch.mels)
            mouth, units = encoder_loss(tokens, batch)
            trainer.descend(mouth + _UNIT_WEIGHT * units, mouth=mouth.item(), units=units.item())
        encoder.load_state_dict(trainer.averaged_state())
    return encoder.eval()
