"""Moments of the queue that computes: of the device where there is one, else of this process."""

from typing import Any, Protocol

import torch

from avatar_cli.protocol.events import now


class Clock(Protocol):
    """Marks moments without waiting, and tells the time between them later."""

    def mark(self) -> Any:
        """The moment when all that was queued so far is done."""

    def seconds(self, first: Any, second: Any) -> float:
        """From one mark to another; waits until both have come."""


class HostClock:
    """For a CPU, which computes at once."""

    def mark(self) -> float:
        """Now."""
        return now()

    def seconds(self, first: float, second: float) -> float:
        """Their difference."""
        return second - first


class DeviceClock:
    """For a GPU: events on the current stream."""

    def mark(self) -> torch.cuda.Event:
        """An event behind all that was queued."""
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def seconds(self, first: torch.cuda.Event, second: torch.cuda.Event) -> float:
        """Between two events, on the device."""
        second.synchronize()
        return first.elapsed_time(second) / 1000


def clock_of(device: torch.device) -> Clock:
    """The clock of a device."""
    return DeviceClock() if device.type == "cuda" else HostClock()
