"""All-to-all over attention heads: a rank has some tokens of all heads, for attention all tokens of some.

Jacobs et al., 2023, "DeepSpeed Ulysses: System Optimizations for Enabling Training of Extreme Long Sequence
Transformer Models".
"""

from collections.abc import Sequence

import torch
import torch.distributed as dist
from torch import Tensor

from avatar_cli.runtime.mesh import SequenceGroup


def exchange_tokens_for_heads(tensors: Sequence[Tensor], group: SequenceGroup) -> list[Tensor]:
    """From [B, H, t, D] with this rank's t tokens to [B, H / ranks, t * ranks, D] with this rank's heads.

    All tensors travel in one collective; they have one dtype, and t may differ between them but not between
    ranks. Tokens come out in the order of the ranks.
    """
    parts = [tensor.unflatten(1, (group.size, -1)).movedim(1, 0) for tensor in tensors]  # [ranks, B, h, t, D]
    return [part.movedim(0, 2).flatten(2, 3) for part in _all_to_all(parts, group)]


def exchange_heads_for_tokens(tensor: Tensor, group: SequenceGroup) -> Tensor:
    """Inverse of `exchange_tokens_for_heads`, for one tensor."""
    part = tensor.unflatten(2, (group.size, -1)).movedim(2, 0)  # [ranks, B, h, t, D]
    return _all_to_all([part], group)[0].movedim(0, 1).flatten(1, 2)


def gather_tokens(tensor: Tensor, dimension: int, group: SequenceGroup) -> Tensor:
    """The parts of all ranks, joined along `dimension`."""
    part = tensor.movedim(dimension, 0).contiguous()
    whole = part.new_empty((group.size * part.shape[0], *part.shape[1:]))
    dist.all_gather_single(whole, part, group=group.group)
    return whole.movedim(0, dimension)


def _all_to_all(parts: Sequence[Tensor], group: SequenceGroup) -> list[Tensor]:
    """Send part[r] of each of `parts` [ranks, ...] to rank r, and get as much from it."""
    outgoing = torch.cat([part.flatten(1) for part in parts], dim=1)
    incoming = torch.empty_like(outgoing)
    dist.all_to_all_single(incoming, outgoing, group=group.group)
    received = incoming.split([part[0].numel() for part in parts], dim=1)
    return [flat.reshape(part.shape) for flat, part in zip(received, parts, strict=True)]
