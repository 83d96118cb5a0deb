"""The one seam between the streaming of weights and the device: copies, and the events that order them.

Two queues run beside each other: the compute stream, on which networks run, and the copy stream, on which
weights come in. Work of one queue is in order; only events order work of one after work of the other.
"""

from typing import Any, Protocol

import torch
from torch import Tensor

Event = Any  # what `record_copies` and `record_compute` return: only the engine that made it looks inside


class CopyEngine(Protocol):
    """Queues copies from host to device. No call waits on the host, where the device can wait by itself."""

    device: torch.device

    def pin(self, host: Tensor) -> None:
        """Make a uint8 CPU tensor readable by the device without a staging copy, until `unpin`."""

    def unpin(self, host: Tensor) -> None:
        """Inverse of `pin`; no copy from it may be queued any more."""

    def allocate(self, nbytes: int) -> Tensor:
        """uint8 [nbytes] on the device, in memory that the compute stream may use at once."""

    def copy(self, host: Tensor, target: Tensor, name: str) -> None:
        """Queue one copy on the copy stream; `name` is the block's, for traces."""

    def record_copies(self) -> Event:
        """An event that comes when all copies queued so far are done."""

    def record_compute(self) -> Event:
        """An event that comes when all computation queued so far is done."""

    def copies_wait(self, event: Event) -> None:
        """Copies queued from now on begin after `event`."""

    def compute_waits(self, event: Event) -> None:
        """Computation queued from now on begins after `event`."""
