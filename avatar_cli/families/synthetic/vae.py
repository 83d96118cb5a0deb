"""The causal decoder: latents to pixels, one latent frame at a time, with a memory of the frames before.

A causal convolution in time sees its own frame and those before it, never later ones, so that a video of any
length can be decoded piece by piece; what it must remember of a piece is its last two frames, at every layer.
"""

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from avatar_cli.families.synthetic.sizes import LATENT_CHANNELS, VaeParams

_PAST = 2  # frames that a convolution of three remembers
_GROUPS = 4


class CausalConv(nn.Conv3d):
    """Three frames by three by three cells."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs, kernel_size=3, padding=(0, 1, 1))

    def remember(self, x: Tensor, past: Tensor) -> tuple[Tensor, Tensor]:
        """Frames [B, C, T, h, w] after `past` [B, C, 2, h, w]; gives outputs, and the past of the next."""
        seen = torch.cat([past, x], dim=2)
        return self(seen), seen[:, :, -_PAST:].clone()


class Residual(nn.Module):
    """A convolution beside a shortcut; doubles space, and time, in front of it where asked."""

    def __init__(self, inputs: int, outputs: int, time: int = 1, space: int = 1) -> None:
        super().__init__()
        self.inputs = inputs
        self.time = time
        self.space = space
        self.norm = nn.GroupNorm(_GROUPS, inputs)
        self.conv = CausalConv(inputs, outputs)
        self.shortcut = nn.Conv3d(inputs, outputs, kernel_size=1)

    def forward(self, x: Tensor, past: Tensor) -> tuple[Tensor, Tensor]:
        """[B, inputs, T, h, w] to [B, outputs, T time, h space, w space], and what to remember."""
        x = x.repeat_interleave(self.time, dim=2)
        x = F.interpolate(x, scale_factor=(1, self.space, self.space), mode="nearest")
        inner, past = self.conv.remember(F.silu(_framewise(self.norm, x)), past)
        return self.shortcut(x) + inner, past


class CausalDecoder(nn.Module):
    """Eight times as large in space and four times in time."""

    def __init__(self, params: VaeParams) -> None:
        super().__init__()
        self.conv_in = nn.Conv3d(LATENT_CHANNELS, params.channels[0], kernel_size=1)
        layers = [_stay(params.channels[0]) for _ in range(params.residual_blocks)]
        for step, (inputs, outputs) in enumerate(pairwise(params.channels)):
            layers.append(Residual(inputs, outputs, time=2 if step < 2 else 1, space=2))
            layers += [_stay(outputs) for _ in range(params.residual_blocks)]
        self.blocks = nn.ModuleList(layers)
        self.norm_out = nn.GroupNorm(_GROUPS, params.channels[-1])
        self.conv_out = nn.Conv3d(params.channels[-1], 3, kernel_size=1)

    def forward(self, latent: Tensor, memory: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Pixels [1, 3, 4, 8 h, 8 w] in -1..1 of one latent [1, 16, 1, h, w], and the memory after it."""
        hidden = self.conv_in(latent.to(self.conv_in.weight.dtype))
        remembered = []
        for block, past in zip(self.blocks, memory, strict=True):
            hidden, later = block(hidden, past)
            remembered.append(later)
        hidden = self.conv_out(F.silu(_framewise(self.norm_out, hidden)))
        return torch.tanh(hidden.float()), tuple(remembered)

    def empty_memory(self, height: int, width: int, like: Tensor) -> tuple[Tensor, ...]:
        """The memory before the first latent of height x width cells: zeros, of the kind of `like`."""
        memory = []
        for layer in self.blocks:
            assert isinstance(layer, Residual)
            height, width = height * layer.space, width * layer.space
            memory.append(like.new_zeros(1, layer.inputs, _PAST, height, width))
        return tuple(memory)


def _stay(channels: int) -> Residual:
    return Residual(channels, channels)


def _framewise(norm: nn.GroupNorm, x: Tensor) -> Tensor:
    """Normalise each frame alone: statistics over several frames would not be causal."""
    batch, _, count = x.shape[:3]
    return norm(x.transpose(1, 2).flatten(0, 1)).unflatten(0, (batch, count)).transpose(1, 2)
