"""A copy engine that checks the order that events make sure of, whatever happened to run first."""

import weakref
from typing import Any

from torch import Tensor

from avatar_cli.runtime.residency.host_copies import HostCopies


class CheckedCopies(HostCopies):
    """Counts what both streams have been asked to do, and what each knows of the other through events.

    It raises AssertionError where a copy overwrites memory that may still be computed with, where something
    is computed with memory whose copy may not be done, and where memory is given back under a copy.
    `order` is what was queued; `live` the bytes on the imagined device, and `peak` their highest sum.
    """

    def __init__(self) -> None:
        super().__init__()
        self.order: list[str] = []
        self.live = 0
        self.peak = 0
        self._copies = 0
        self._computed = 0
        self._copies_known = 0  # to the compute stream
        self._computed_known = 0  # to the copy stream
        self._events: dict[int, tuple[str, int, Any]] = {}
        self._copied_at: dict[int, int] = {}  # by address
        self._computed_at: dict[int, int] = {}

    def allocate(self, nbytes: int) -> Tensor:
        memory = super().allocate(nbytes)
        address = memory.data_ptr()
        # Whoever had it before may still be computing.
        self._computed_at[address] = self._computed
        self._copied_at.pop(address, None)
        self.live += nbytes
        self.peak = max(self.peak, self.live)
        weakref.finalize(memory, self._freed, address, nbytes)
        return memory

    def copy(self, host: Tensor, target: Tensor, name: str) -> None:
        address = target.data_ptr()
        assert self._computed_at[address] <= self._computed_known, f"{name} overwrites what is in use"
        self._copies += 1
        self._copied_at[address] = self._copies
        self.order.append(f"copy {name}")
        super().copy(host, target, name)

    def computed(self, address: int, name: str) -> None:
        """The compute stream is asked for something that reads the memory at an address."""
        assert self._copied_at[address] <= self._copies_known, f"{name} is computed before its copy"
        self._computed += 1
        self._computed_at[address] = self._computed
        self.order.append(f"forward {name}")

    def record_copies(self):
        event = super().record_copies()
        self._events[id(event)] = ("copies", self._copies, event)
        return event

    def record_compute(self):
        event = super().record_compute()
        self._events[id(event)] = ("computed", self._computed, event)
        return event

    def copies_wait(self, event) -> None:
        kind, count, _ = self._events[id(event)]
        assert kind == "computed"
        self._computed_known = max(self._computed_known, count)
        super().copies_wait(event)

    def compute_waits(self, event) -> None:
        kind, count, _ = self._events[id(event)]
        assert kind == "copies"
        self._copies_known = max(self._copies_known, count)
        super().compute_waits(event)

    def _freed(self, address: int, nbytes: int) -> None:
        self.live -= nbytes
        if self._copied_at.get(address, 0) > self._copies_known:
            self.order.append("given back under a copy")
