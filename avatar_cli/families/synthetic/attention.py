"""Attention with rotary positions, and the parts that all transformers of the family are made of."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_LONGEST_WAVE = 10_000.0


class AttentionCore(nn.Module):
    """Softmax attention. A module of its own, because it is all of self-attention that joins tokens."""

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """Queries [B, heads, T, D], keys and values [B, heads, S, D] to [B, heads, T, D]."""
        return F.scaled_dot_product_attention(query, key, value)


class Attention(nn.Module):
    """Self-attention, each token turned by its position; `core` is the only part that joins tokens."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.query_norm = nn.RMSNorm(hidden // heads, eps=1e-6)
        self.key_norm = nn.RMSNorm(hidden // heads, eps=1e-6)
        self.core = AttentionCore()
        self.out = nn.Linear(hidden, hidden)

    def forward(self, x: Tensor, rotary: Tensor) -> Tensor:
        """Tokens [B, T, hidden] with the `rotary` [T, 2, D/2] of their positions."""
        query, key, value = (_split(part, self.heads) for part in self.qkv(x).chunk(3, dim=-1))
        query = rotate(self.query_norm(query), rotary)
        key = rotate(self.key_norm(key), rotary)
        return self.out(_join(self.core(query, key, value)))


class CrossAttention(nn.Module):
    """Attention to a context, which is the same for every token, or differs by a mask."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(hidden, hidden)
        self.key_value = nn.Linear(hidden, 2 * hidden)
        self.out = nn.Linear(hidden, hidden)

    def forward(self, x: Tensor, context: Tensor, seen: Tensor | None = None) -> Tensor:
        """Tokens [B, T, hidden], context [B, S, hidden]; `seen` [T, S] says who sees what."""
        query = _split(self.query(x), self.heads)
        key, value = (_split(part, self.heads) for part in self.key_value(context).chunk(2, dim=-1))
        return self.out(_join(F.scaled_dot_product_attention(query, key, value, attn_mask=seen)))


class Mlp(nn.Module):
    """Two layers, [..., hidden] to [..., hidden]."""

    def __init__(self, hidden: int, width: int) -> None:
        super().__init__()
        self.expand = nn.Linear(hidden, width)
        self.project = nn.Linear(width, hidden)

    def forward(self, x: Tensor) -> Tensor:
        """[..., hidden]."""
        return self.project(F.gelu(self.expand(x), approximate="tanh"))


def wave_lengths(count: int, device: torch.device) -> Tensor:
    """Angular frequencies [count] from 1 down to almost 1 / 10000, geometrically spaced."""
    return _LONGEST_WAVE ** (-torch.arange(count, device=device) / count)


def rotary(positions: Tensor, head: int) -> Tensor:
    """Cosines and sines [T, 2, head / 2] of positions [T, axes].

    Rotary embedding (Su et al., arXiv 2104.09864), the angles shared out over the axes; the first axis gets
    what does not divide.
    """
    axes = positions.shape[1]
    share = head // 2 // axes
    counts = [head // 2 - share * (axes - 1), *[share] * (axes - 1)]
    angles = torch.cat(
        [
            positions[:, axis, None].float() * wave_lengths(count, positions.device)
            for axis, count in enumerate(counts)
        ],
        dim=1,
    )
    return torch.stack([angles.cos(), angles.sin()], dim=1)


def rotate(x: Tensor, rotary: Tensor) -> Tensor:
    """Turn [B, heads, T, D] by [T, 2, D/2], in single precision."""
    cos, sin = rotary.unbind(dim=1)
    first, second = x.float().chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1).to(x.dtype)


def _split(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def _join(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)
