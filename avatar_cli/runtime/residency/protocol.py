"""What stages ask of the memory behind a network."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol

from torch import nn


class Residency(Protocol):
    """One network that comes and goes.

    Between `enter` and `leave` the network may be called, under `torch.no_grad()`. Weights never change, so
    leaving copies nothing back. Every call is an Interval event named `enter NAME` or `leave NAME`.
    """

    name: str

    @property
    def network(self) -> Any:
        """The network to call, and nothing else: its parameters may be anywhere."""

    def enter(self) -> None:
        """Make the network ready to be called.

        Cheap where blocks come in one by one, each under the compute of the one before.
        """

    def bring_in(self) -> None:
        """Begin to bring in root and first block, ahead of `enter`, where that can be done at any time."""

    def prefetch(self, following: "Residency") -> None:
        """Before the last call of a stage: bring in root and first block of `following` under its compute.

        May be called for several. Does nothing where two cannot share memory traffic; `leave` ends it.
        """

    def leave(self) -> None:
        """Free what the network holds on the device beyond its resting place."""

    def close(self) -> None:
        """Free the weights for good, on host and device: a network that runs once a job is closed after it.

        Nothing may be called afterwards.
        """


@contextmanager
def resident(*residencies: Residency) -> Iterator[tuple[nn.Module, ...]]:
    """Enter some residencies for the body, and leave them whatever happens."""
    with ExitStack() as stack:
        for residency in residencies:
            residency.enter()
            stack.callback(residency.leave)
        yield tuple(residency.network for residency in residencies)
