"""The module: one network and its checkpoint, as a family declares them. Residencies turn it into tensors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import nn

from avatar_cli.runtime.weights import Checkpoint

Network = TypeVar("Network", bound=nn.Module)


@dataclass(frozen=True)
class Module(Generic[Network]):
    """Everything a residency needs to know of one network.

    `build` makes the network from the checkpoint's configuration; it runs on the meta device, so constructors
    may not read values of tensors they made. `blocks` gives the repeated layers in the order in which a
    forward runs them: they are sharded and streamed one by one.
    """

    name: str
    checkpoint: Checkpoint
    build: Callable[[Mapping[str, Any]], Network]
    blocks: Callable[[Network], Sequence[nn.Module]]
    dtype: torch.dtype = torch.float32
    methods: tuple[str, ...] = ()  # methods beside forward that are called from outside, such as "prefill"

    def on_meta(self) -> Network:
        """The network without memory for its tensors, for inference, in `dtype`."""
        with torch.device("meta"):
            network = self.build(self.checkpoint.config())
        return network.to(self.dtype).eval().requires_grad_(False)
