"""The audio-to-video network: a diffusion transformer that makes motion latents by flow matching.

x_t = (1 - t) noise + t x with the noise of `noise_scale`; the network predicts the velocity x - noise, and
Euler steps from t = 0 to 1 make motion out of noise. Frames given as clean (border and anchor frames) stay
what they are. It works on latents normalised by `mean` and `std`, which are stored with the weights.

The transformer follows Peebles and Xie, 2023, "Scalable Diffusion Models with Transformers" (adaptive layer
norms whose gates start at zero); one projection of the time serves all blocks, each adding its own table, as
in Chen et al., 2023, "PixArt-alpha". Habits of the person and the prompt go the way of the time, the prompt
frame by frame, so that it may change in any of them and scale what moves there; the face is attended to.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from avatar_cli.families.portrait.audio_encoder import MOUTH_SCALE, AudioTokens
from avatar_cli.families.portrait.habits import HABITS
from avatar_cli.families.portrait.latents import CHANNELS, MOUTH, MOUTH_SLICE, REFERENCE_TOKEN_FEATURES

MOUTH_NOISE = 0.3
LARGEST_DISTANCE = 80  # frames; farther ones share a bias
_FIRST_REACHES = (1.0, 3.0, 10.0)  # frames after which a head's attention has fallen to 1/e
_MODULATIONS = 6
_HIGHEST_FREQUENCY = 1000.0


@dataclass(frozen=True)
class MotionDiTParams:
    """Size of the network; `audio_width` and `prompt_width` are those of the two encoders."""

    width: int = 128
    blocks: int = 5
    heads: int = 4
    expansion: int = 3
    audio_width: int = 128
    prompt_width: int = 64


def noise_scale() -> Tensor:
    """Standard deviation of the noise per channel [21], normalised units: lips start near what the speech
    says.
    """
    scale = torch.ones(len(CHANNELS))
    scale[MOUTH_SLICE] = MOUTH_NOISE
    return scale


def time_features(t: Tensor, width: int) -> Tensor:
    """Cosines and sines of t [B] in [0, 1] at geometrically spaced frequencies, [B, width]."""
    half = width // 2
    frequency = torch.exp(torch.arange(half, device=t.device) * (math.log(_HIGHEST_FREQUENCY) / half))
    angle = t[:, None] * frequency
    return torch.cat([angle.cos(), angle.sin()], dim=-1)


class Attention(nn.Module):
    """Attention of queries [B, n, d] to a context [B, m, c], with an optional bias [B, h, n, m]."""

    def __init__(self, width: int, context_width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(context_width, 2 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor, context: Tensor, bias: Tensor | None = None) -> Tensor:
        """[B, n, d]."""
        query = self._split(self.query(x))
        key, value = (self._split(part) for part in self.key_value(context).chunk(2, dim=-1))
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        return self.out(attended.transpose(1, 2).flatten(2))

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class RelativeBias(nn.Module):
    """A learned number per head for every distance in frames.

    At first some heads see near frames only, each another reach, because motion is smooth.
    """

    def __init__(self, heads: int) -> None:
        super().__init__()
        distance = torch.arange(-LARGEST_DISTANCE, LARGEST_DISTANCE + 1).abs()
        slopes = [1 / reach for reach in _FIRST_REACHES][:heads]
        slope = torch.tensor([*slopes, *[0.0] * (heads - len(slopes))])
        self.table = nn.Parameter(-distance[:, None] * slope)

    def forward(self, positions: Tensor) -> Tensor:
        """Frame numbers int64 [B, n] to bias [B, h, n, n]."""
        distance = positions[:, None, :] - positions[:, :, None]
        index = distance.clamp(-LARGEST_DISTANCE, LARGEST_DISTANCE) + LARGEST_DISTANCE
        return self.table[index].permute(0, 3, 1, 2)


class MotionBlock(nn.Module):
    """Self-attention over frames, cross-attention to the reference, and a two-layer network."""

    def __init__(self, params: MotionDiTParams) -> None:
        super().__init__()
        width = params.width
        self.bias = RelativeBias(params.heads)
        self.norm = nn.LayerNorm(width, elementwise_affine=False)
        self.self_attention = Attention(width, width, params.heads)
        self.cross_norm = nn.LayerNorm(width)
        self.cross_attention = Attention(width, width, params.heads)
        self.expand = nn.Linear(width, params.expansion * width)
        self.project = nn.Linear(params.expansion * width, width)
        self.table = nn.Parameter(torch.zeros(_MODULATIONS, width))

    def forward(self, x: Tensor, modulation: Tensor, positions: Tensor, context: Tensor) -> Tensor:
        """Takes x [B, n, d], modulation [B, n, 6, d], positions [B, n], context [B, m, d]."""
        shift, scale, gate, shift_mlp, scale_mlp, gate_mlp = (modulation + self.table).unbind(dim=2)
        attended = self.norm(x) * (1 + scale) + shift
        x = x + gate * self.self_attention(attended, attended, self.bias(positions).to(x.dtype))
        x = x + self.cross_attention(self.cross_norm(x), context)
        hidden = functional.gelu(self.expand(self.norm(x) * (1 + scale_mlp) + shift_mlp))
        return x + gate_mlp * self.project(hidden)


class MotionDiT(nn.Module):
    """Velocity of motion latents; see `forward`."""

    mean: Tensor
    std: Tensor
    mouth_scale: Tensor

    def __init__(self, params: MotionDiTParams = MotionDiTParams()) -> None:
        super().__init__()
        self.params = params
        width = params.width
        channels = len(CHANNELS)
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("std", torch.ones(channels))
        self.register_buffer("mouth_scale", torch.tensor([MOUTH_SCALE[name] for name in MOUTH]))
        self.frames_in = nn.Linear(2 * channels + 1 + len(MOUTH) + params.audio_width, width)
        self.reference_in = nn.Sequential(
            nn.Linear(REFERENCE_TOKEN_FEATURES, width),
            nn.GELU(),
            nn.Linear(width, width),
            nn.LayerNorm(width),
        )
        self.time_in = _condition(width, width)
        self.habits_in = _condition(len(HABITS), width)
        self.prompt_in = _condition(params.prompt_width, width)
        self.modulation = nn.Linear(width, _MODULATIONS * width)
        self.blocks = nn.ModuleList(MotionBlock(params) for _ in range(params.blocks))
        self.out_norm = nn.LayerNorm(width, elementwise_affine=False)
        self.out_modulation = nn.Linear(width, 2 * width)
        self.out = nn.Linear(width, channels)
        for layer in (self.modulation, self.out_modulation, self.out):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    def normalise(self, latents: Tensor) -> Tensor:
        """Motion latents [..., 21] in their own units to the network's."""
        return (latents - self.mean) / self.std

    def denormalise(self, latents: Tensor) -> Tensor:
        """Inverse of `normalise`."""
        return latents * self.std + self.mean

    def forward(
        self,
        x: Tensor,
        t: Tensor,
        clean: Tensor,
        mask: Tensor,
        positions: Tensor,
        audio: AudioTokens,
        reference: Tensor,
        prompt: Tensor,
        habits: Tensor,
    ) -> Tensor:
        """Velocity [B, n, 21] of noisy latents.

        Args:
            x: [B, n, 21] noisy latents, normalised; clean ones where `mask` is 1.
            t: [B] in [0, 1].
            clean: [B, n, 21] known latents, normalised; what it holds where `mask` is 0 has no effect.
            mask: [B, n, 1], 1 at border and anchor frames.
            positions: [B, n] int64 frame numbers; only their differences matter.
            audio: tokens and mean of the same n frames.
            reference: [B, 128, 12] reference tokens.
            prompt: [B, n, d], the text encoder's token of what is asked for in each frame.
            habits: [B, 5] of `Habits.vector`.
        """
        spoken = audio.mean / self.mouth_scale
        frames = self.frames_in(torch.cat([x, clean * mask, mask, spoken, audio.tokens], dim=-1))
        face = self.reference_in(reference)
        whole = self.time_in(time_features(t, self.params.width)) + self.habits_in(habits)
        condition = functional.silu(whole[:, None] + self.prompt_in(prompt))
        modulation = self.modulation(condition).unflatten(-1, (_MODULATIONS, -1))
        for block in self.blocks:
            frames = block(frames, modulation, positions, face)
        shift, scale = self.out_modulation(condition).chunk(2, dim=-1)
        return self.out(self.out_norm(frames) * (1 + scale) + shift)


def _condition(inputs: int, width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, width), nn.SiLU(), nn.Linear(width, width))
