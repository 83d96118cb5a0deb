"""Training of the motion network and the text encoder by flow matching on chunk-shaped windows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from avatar_cli.families.portrait.a2v_dit import MotionDiT, noise_scale
from avatar_cli.families.portrait.latents import CHANNELS, MOUTH_SLICE, POSE, POSE_SLICE
from avatar_cli.families.portrait.text_encoder import TextEncoder
from avatar_cli.families.portrait.training.identities import Identity
from avatar_cli.families.portrait.training.motion_data import (
    MotionBatch,
    Recording,
    WindowShape,
    sample_windows,
)
from avatar_cli.families.portrait.training.optimisation import Schedule, Trainer

_IMPORTANCE = {
    "jaw_drop": 1.5,
    "gap": 2.0,
    "width": 1.5,
    "upper_lip_y": 1.0,
    "shift_x": 0.3,
    "blink": 1.0,
    **dict.fromkeys(POSE, 0.7),
}
_OTHER_IMPORTANCE = 0.6
_VELOCITY_WEIGHT = 0.5
_POSE_SMOOTHNESS = 4.0  # additional weight of the frame-to-frame change of the head, which hardly trembles
_STEPS = 6  # Euler steps of the product
_STEP_SHARE = 0.6
_SMALLEST_VELOCITY_TIME = 0.2
# Reference tokens left in most batches: the network must not lean on single ones, and fewer are faster.
_FEW_TOKENS = 32
_FEW_TOKENS_SHARE = 0.9


@dataclass(frozen=True)
class WindowMix:
    """Windows of one kind: its share of the batches, and the range of each part (both ends included)."""

    share: float
    before: tuple[int, int]
    gap: tuple[int, int]
    frames: tuple[int, int]
    after: tuple[int, int]

    def draw(self, rng: np.random.Generator) -> WindowShape:
        """A shape of this kind."""
        parts = (self.before, self.gap, self.frames, self.after)
        before, gap, frames, after = (int(rng.integers(low, high + 1)) for low, high in parts)
        return WindowShape(before, gap, frames, after)


WINDOWS = (
    WindowMix(0.34, before=(6, 6), gap=(10, 10), frames=(48, 48), after=(0, 0)),
    WindowMix(0.10, before=(3, 8), gap=(0, 14), frames=(40, 54), after=(0, 0)),
    WindowMix(0.14, before=(0, 0), gap=(0, 0), frames=(40, 54), after=(0, 0)),
    WindowMix(0.24, before=(6, 6), gap=(0, 0), frames=(10, 10), after=(6, 6)),
    WindowMix(0.09, before=(6, 6), gap=(5, 5), frames=(12, 12), after=(0, 0)),
    WindowMix(0.09, before=(4, 8), gap=(0, 0), frames=(4, 14), after=(4, 8)),
)
_FRAMES_PER_BATCH = 800


@dataclass(frozen=True)
class MotionData:
    """Everything to draw windows from; `filmed_share` of the batches come from clips."""

    synthetic: Sequence[Recording]
    filmed: Sequence[Recording]
    identities: Sequence[Identity]
    filmed_share: float

    def draw(self, rng: np.random.Generator) -> MotionBatch:
        """A random batch."""
        shares = np.array([mix.share for mix in WINDOWS])
        shape = WINDOWS[rng.choice(len(WINDOWS), p=shares / shares.sum())].draw(rng)
        count = _FRAMES_PER_BATCH // len(shape.offsets)
        recordings = self.filmed if rng.random() < self.filmed_share else self.synthetic
        return sample_windows(recordings, self.identities, shape, count, rng)


class PromptedMotion(nn.Module):
    """The two networks that are trained together."""

    def __init__(self, motion: MotionDiT, text: TextEncoder) -> None:
        super().__init__()
        self.motion = motion
        self.text = text


def measure_spread(network: MotionDiT, data: MotionData) -> None:
    """Set the network's `mean` and `std` so that its latents have about unit spread; the resting face stays
    at 0.
    """
    motion = np.concatenate([recording.motion for recording in data.synthetic])
    network.mean.zero_()
    network.std.copy_(torch.from_numpy(motion.std(axis=0)).clamp_min(_least_spread()))


def _least_spread() -> Tensor:
    """No channel is divided by less than this: e, radians or iris radii."""
    least = torch.full((len(CHANNELS),), 1e-3)
    least[MOUTH_SLICE] = 0.004
    return least


def flow_loss(network: PromptedMotion, batch: MotionBatch, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Error of the velocity at free frames, and of the frame-to-frame change of where it leads."""
    motion = network.motion
    data = motion.normalise(batch.motion)
    count = len(data)
    noise = torch.randn_like(data) * noise_scale()
    t = draw_times(count)
    time = t[:, None, None]
    free = 1.0 - batch.mask
    x = ((1 - time) * noise + time * data) * free + data * batch.mask
    reference = _some_tokens(batch.reference, rng)
    prompt = network.text(batch.prompt.flatten(0, 1)).view(*batch.prompt.shape[:2], -1)
    positions = batch.positions
    mask = batch.mask.expand(count, -1, -1)
    conditions = (mask, positions, batch.audio, reference, prompt, batch.habits)
    velocity = motion(x, t, data * batch.mask, *conditions)
    importance = torch.tensor([_IMPORTANCE.get(name, _OTHER_IMPORTANCE) for name in CHANNELS])
    error = ((velocity - (data - noise)) ** 2 * importance * free).sum() / (
        free.sum() * count * len(CHANNELS)
    )
    reached = (x + (1 - time) * velocity) * free + data * batch.mask
    steps = (positions[:, 1:] - positions[:, :-1] == 1)[..., None]
    change = (reached - data)[:, 1:] - (reached - data)[:, :-1]
    smoothness = torch.ones(len(CHANNELS))
    smoothness[POSE_SLICE] = _POSE_SMOOTHNESS
    weight = importance * smoothness * steps * time.clamp_min(_SMALLEST_VELOCITY_TIME)
    return error, (change**2 * weight).mean()


def draw_times(count: int) -> Tensor:
    """Times [count] in [0, 1): most of them those at which the product's Euler steps stand."""
    anywhere = torch.sigmoid(torch.randn(count))
    step = torch.randint(0, _STEPS, (count,)) / _STEPS
    return torch.where(torch.rand(count) < _STEP_SHARE, step, anywhere)


def _some_tokens(reference: Tensor, rng: np.random.Generator) -> Tensor:
    if rng.random() > _FEW_TOKENS_SHARE:
        return reference
    kept = rng.permutation(reference.shape[1])[:_FEW_TOKENS]
    return reference[:, torch.from_numpy(np.sort(kept))]


def train_motion(network: PromptedMotion, data: MotionData, schedule: Schedule, seed: int) -> PromptedMotion:
    """Train; the networks come back with averaged weights."""
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    measure_spread(network.motion, data)
    trainer = Trainer(network, schedule)
    for _ in trainer.steps():
        error, change = flow_loss(network, data.draw(rng), rng)
        trainer.descend(error + _VELOCITY_WEIGHT * change, flow=error.item(), change=change.item())
    network.load_state_dict(trainer.averaged_state())
    return network.eval()
