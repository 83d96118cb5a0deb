"""A small video transformer with everything that context parallel has to get right, in plain code."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from avatar_cli.runtime.context_parallel import Gather, SequencePlan, Split
from avatar_cli.runtime.module import Module
from avatar_cli.runtime.weights import Checkpoint, save_checkpoint

CONFIG = {"width": 24, "heads": 4, "depth": 3, "channels": 6}
SPOTS = 6  # tokens of one frame
Cache = list[tuple[Tensor, Tensor]]


class Core(nn.Module):
    """Attention of queries [B, H, n, D] to keys and values [B, H, m, D]."""

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return functional.scaled_dot_product_attention(query, key, value)


class Attention(nn.Module):
    """Rotary self-attention, also to cached keys and values."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.core = Core()
        self.out = nn.Linear(width, width)

    def forward(
        self, x: Tensor, rotary: tuple[Tensor, Tensor], cached: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        query, key, value = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1)
        )
        query, key = rotate(query, rotary), rotate(key, rotary)
        own = (key, value)
        if cached is not None:
            key, value = torch.cat([cached[0], key], dim=2), torch.cat([cached[1], value], dim=2)
        return self.out(self.core(query, key, value).transpose(1, 2).flatten(2)), own


def rotate(x: Tensor, rotary: tuple[Tensor, Tensor]) -> Tensor:
    """Turn pairs of channels of x [B, H, n, D] by the angles whose cosines and sines [n, D/2] are given."""
    even, odd = x[..., ::2], x[..., 1::2]
    cosine, sine = rotary
    return torch.stack([even * cosine - odd * sine, even * sine + odd * cosine], dim=-1).flatten(-2)


class Block(nn.Module):
    """Modulated self-attention, cross-attention to text, and a two-layer network."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = Attention(width, heads)
        self.to_text = nn.Linear(width, width)
        self.expand = nn.Linear(width, 2 * width)
        self.project = nn.Linear(2 * width, width)
        self.kept: tuple[Tensor, Tensor] | None = None

    def forward(
        self,
        x: Tensor,  # [B, frames, spots, width]
        shift: Tensor,  # [B, frames, 1, width]
        text: Tensor,  # [B, words, width]
        rotary: tuple[Tensor, Tensor],  # [frames, spots, D/2] each
        cached: tuple[Tensor, Tensor] | None = None,
    ) -> Tensor:
        angles = (rotary[0].flatten(0, 1), rotary[1].flatten(0, 1))
        attended, self.kept = self.attention(self._norm(x, shift).flatten(1, 2), angles, cached)
        x = x + attended.unflatten(1, x.shape[1:3])
        x = x + torch.softmax(self.to_text(x).flatten(1, 2) @ text.mT, dim=-1).matmul(text).view_as(x)
        return x + self.project(functional.gelu(self.expand(self._norm(x, shift))))

    @staticmethod
    def _norm(x: Tensor, shift: Tensor) -> Tensor:
        return functional.layer_norm(x, x.shape[-1:]) + shift


class TinyDiT(nn.Module):
    """Velocity of latents [B, frames, spots, channels]; `prefill` gives keys and values of clean frames."""

    def __init__(self, width: int, heads: int, depth: int, channels: int) -> None:
        super().__init__()
        self.frequencies = width // heads // 2
        self.embed = nn.Linear(channels, width)
        self.time = nn.Linear(1, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.head = nn.Linear(width, channels)

    def forward(self, x: Tensor, times: Tensor, text: Tensor, cache: Cache | None = None) -> Tensor:
        """`times` [frames]: every frame has its own flow time."""
        return self.head(self._run(x, times, text, cache, first_frame=2))

    def prefill(self, x: Tensor, text: Tensor) -> Cache:
        self._run(x, torch.zeros(x.shape[1]), text, None, first_frame=0)
        return [block.kept for block in self.blocks]

    def _run(self, x: Tensor, times: Tensor, text: Tensor, cache: Cache | None, first_frame: int) -> Tensor:
        shift = self.time(times[None, :, None, None])
        rotary = self._rotary(first_frame, *x.shape[1:3])
        h = self.embed(x)
        for index, block in enumerate(self.blocks):
            h = block(h, shift, text, rotary=rotary, cached=cache[index] if cache else None)
        return h

    def _rotary(self, first_frame: int, frames: int, spots: int) -> tuple[Tensor, Tensor]:
        places = 10.0 * torch.arange(first_frame, first_frame + frames)[:, None] + torch.arange(spots)
        angles = places[..., None] * 0.5 ** torch.arange(self.frequencies)
        return angles.cos(), angles.sin()


def sequence_plan(network: TinyDiT) -> SequencePlan:
    """Spots of every frame are shared; only the cores mix them."""
    return SequencePlan(
        splits=(
            Split(network.blocks[0], "x", 2),
            *(Split(block, "rotary", 1) for block in network.blocks),
        ),
        gathers=(Gather(network.head, 2),),
        cores=tuple(block.attention.core for block in network.blocks),
    )


def build(config: Mapping[str, Any]) -> TinyDiT:
    """The network of a configuration."""
    return TinyDiT(**config)


def tiny_dit(path: Path, name: str = "tiny_dit") -> Module[TinyDiT]:
    """The module whose checkpoint is `path`."""
    return Module(
        name=name,
        checkpoint=Checkpoint(path),
        build=build,
        blocks=lambda network: list(network.blocks),
        methods=("prefill",),
    )


def write_checkpoint(path: Path, **changes: int) -> None:
    """Save random weights."""
    config = {**CONFIG, **changes}
    network = build(config)
    generator = torch.Generator().manual_seed(1)
    tensors = {
        name: torch.randn(tensor.shape, generator=generator) * 0.2
        for name, tensor in network.state_dict().items()
    }
    save_checkpoint(path, tensors, config)


def generate(network: TinyDiT, spots: int = SPOTS) -> dict[str, Tensor]:
    """Latents after three Euler steps, held to two clean frames and not."""
    generator = torch.Generator().manual_seed(7)
    noise = torch.randn(2, 4, spots, CONFIG["channels"], generator=generator)
    clean = torch.randn(2, 2, spots, CONFIG["channels"], generator=generator)
    text = torch.randn(2, 5, CONFIG["width"], generator=generator)
    outputs = {}
    for name, cache in (("cached", network.prefill(clean, text)), ("alone", None)):
        latents = noise
        for step in range(3):
            times = torch.tensor([step / 3, step / 3, step / 3, 0.9])
            latents = latents + network(latents, times, text, cache) / 3
        outputs[name] = latents
    return outputs
