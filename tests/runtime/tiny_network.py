"""A small transformer with everything that makes loading and sharding hard, for the tests of this folder."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from avatar_cli.runtime.module import Module
from avatar_cli.runtime.weights import Checkpoint, save_checkpoint

CONFIG = {"width": 20, "depth": 3, "channels": 5}


class Block(nn.Module):
    """Pre-norm attention-free block whose first dimension does not divide by the number of ranks."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 3 * width + 1)
        self.down = nn.Linear(3 * width + 1, width)
        self.gate = nn.Parameter(torch.empty(1))  # fewer rows than ranks

    def forward(self, x: Tensor) -> Tensor:
        """x: [batch, tokens, width]."""
        h = self.norm(x.to(self.norm.weight.dtype)).to(self.up.weight.dtype)
        return (x + self.gate * self.down(torch.nn.functional.gelu(self.up(h)))).to(x.dtype)


class TinyNetwork(nn.Module):
    """Velocity of x [batch, tokens, channels] at a scalar time; `prefill` is a second way in."""

    def __init__(self, width: int, depth: int, channels: int) -> None:
        super().__init__()
        self.embed = nn.Linear(channels, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.head = nn.Linear(width, channels)
        self.position = nn.Parameter(torch.randn(1, 1, width))  # real memory, for a moment
        self.kind = nn.Embedding(1, width)
        self.register_buffer("scale", torch.ones(width))
        frequencies = torch.exp(-math.log(1000.0) * torch.arange(width // 2) / (width // 2))
        self.register_buffer("frequencies", frequencies, persistent=False)

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        """x: [batch, tokens, channels], t: scalar in 0..1."""
        angles = t * self.frequencies
        h = (
            self.embed(x.to(self.embed.weight.dtype))
            + self.position
            + self.kind.weight
            + torch.cat([angles.cos(), angles.sin()])
        ) * self.scale
        for block in self.blocks:
            h = block(h)
        return self.head(h.to(self.head.weight.dtype))

    def prefill(self, x: Tensor) -> Tensor:
        """Hidden states of clean frames x [batch, tokens, channels]."""
        h = self.embed(x.to(self.embed.weight.dtype))
        for block in self.blocks:
            h = block(h)
        return h


def build(config: Mapping[str, Any]) -> TinyNetwork:
    """The network of a configuration."""
    return TinyNetwork(**config)


def random_network(seed: int = 0, config: Mapping[str, Any] = CONFIG) -> TinyNetwork:
    """A network with random weights, buffers included."""
    network = build(config)
    generator = torch.Generator().manual_seed(seed)
    for tensor in network.state_dict().values():
        tensor.copy_(torch.randn(tensor.shape, generator=generator) * 0.3)
    return network.eval().requires_grad_(False)


def tiny_module(path: Path, name: str = "tiny", **changes: Any) -> Module[TinyNetwork]:
    """The module whose checkpoint is `path`."""
    return Module(
        name=name,
        checkpoint=Checkpoint(path),
        build=build,
        blocks=lambda network: list(network.blocks),
        methods=("prefill",),
        **changes,
    )


def write_tiny_checkpoint(path: Path, seed: int = 0) -> TinyNetwork:
    """Save a random network and return it."""
    network = random_network(seed)
    save_checkpoint(path, network.state_dict(), CONFIG)
    return network
