"""What a family says about the tokens of a network, so that ranks can share them."""

from dataclasses import dataclass

from torch import nn


@dataclass(frozen=True)
class Split:
    """Before each call of `module` every rank takes its part of the argument named `argument`.

    The argument holds the same on all ranks: a tensor, None, or a tuple of these. Parts are equal and
    contiguous along `dimension`, in the order of the ranks.
    """

    module: nn.Module
    argument: str
    dimension: int


@dataclass(frozen=True)
class Gather:
    """After each call of `module` every rank gets the parts of all ranks, along `dimension` of the output."""

    module: nn.Module
    dimension: int


@dataclass(frozen=True)
class SequencePlan:
    """Where the tokens of one network are split and gathered, and which submodules mix them in between.

    Usually the first block's tokens are split and the last layer's output is gathered; what else belongs to
    single tokens, such as rotary factors or the modulation of each frame, is split at every block that takes
    it. Everything between must treat each token by itself, but for `cores`: the attention of all tokens to
    all, called as core(q, k, v) with [batch, heads, tokens, channels] each and [batch, heads, tokens of q,
    channels] as result. Keys may be more or fewer than queries, such as those of cached clean frames, and
    positions must already be in q and k: a core sees all tokens, but not in an order that means something.

    Splits and gathers happen where a submodule is called, whichever method of the network calls it.
    """

    splits: tuple[Split, ...]
    gathers: tuple[Gather, ...]
    cores: tuple[nn.Module, ...]
