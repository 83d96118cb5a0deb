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

    def host(self, nbytes: int) -> Tensor:
        """uint8 [nbytes] on the CPU, which the device reads without a staging copy, until `free_host`."""

    def free_host(self, host: Tensor) -> None:
        """Give memory of `host` back; no copy from it may be queued any more, and no other view be used."""

    def allocate(self, nbytes: int) -> Tensor:
        """uint8 [nbytes] on the device, which the compute stream may use at once.

        The copy stream has to wait for what is computed with that memory before. It goes back to the device
        when the last reference is dropped; the compute stream must be behind all copies into it by then.
        """

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

    def flush(self) -> None:
        """Wait on the host for all copies queued so far, and for what an engine tells of them."""
