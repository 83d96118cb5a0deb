"""Everything resident all the time: small networks, and machines without an accelerator."""

from typing import Generic, TypeVar

import torch
from torch import nn

from avatar_cli.protocol.events import EventSink
from avatar_cli.runtime.module import Module
from avatar_cli.runtime.recorder import interval
from avatar_cli.runtime.residency.protocol import Residency
from avatar_cli.runtime.weights import load_whole

Network = TypeVar("Network", bound=nn.Module)


class PlainResidency(Generic[Network]):
    """The network stays on `device`; entering and leaving cost nothing."""

    def __init__(self, module: Module[Network], device: torch.device, emit: EventSink, rank: int = 0) -> None:
        """Loads the weights. Raises EnvironmentProblem."""
        self.name = module.name
        self._emit = emit
        self._rank = rank
        with interval(emit, f"load {module.name}", rank=rank):
            self._network = module.on_meta()
            load_whole(self._network, module.checkpoint, device)

    @property
    def network(self) -> Network:
        """The plain network."""
        return self._network

    def enter(self) -> None:
        """Nothing to bring in."""
        with interval(self._emit, f"enter {self.name}", rank=self._rank):
            pass

    def bring_in(self) -> None:
        """Nothing to bring in."""

    def prefetch(self, following: Residency) -> None:
        """Bring in the other one now: this network has no copies of its own that would be held up."""
        following.bring_in()

    def leave(self) -> None:
        """Nothing to free."""
        with interval(self._emit, f"leave {self.name}", rank=self._rank):
            pass

    def close(self) -> None:
        """Drop the network."""
        del self._network
