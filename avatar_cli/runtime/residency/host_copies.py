"""Streams and events imitated on the CPU: what drives a GPU can be run, and its order seen, without one.

A thread is the copy stream: it works off what is queued, in order. The compute stream is the thread that
calls, which computes at once, so an event of it has come as soon as it is recorded.
"""

import queue
import threading
from collections.abc import Callable

import torch
from torch import Tensor

from avatar_cli.protocol.events import EventSink, Interval, now


class HostCopies:
    """A `CopyEngine` without a device; `emit` gets an Interval for every copy. Copies are ordinary memory."""

    device = torch.device("cpu")

    def __init__(self, emit: EventSink | None = None, rank: int = 0) -> None:
        self._emit = emit
        self._rank = rank
        self._queue: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="copies", daemon=True).start()

    def host(self, nbytes: int) -> Tensor:
        """Ordinary memory: the CPU reads all of it."""
        return torch.empty(nbytes, dtype=torch.uint8)

    def free_host(self, host: Tensor) -> None:
        """Goes with its last reference."""

    def allocate(self, nbytes: int) -> Tensor:
        """Ordinary memory."""
        return torch.empty(nbytes, dtype=torch.uint8)

    def copy(self, host: Tensor, target: Tensor, name: str) -> None:
        """Queue one copy."""
        self._queue.put(lambda: self._copy(host, target, name))

    def record_copies(self) -> threading.Event:
        """Comes when the thread has worked off what is queued so far."""
        event = threading.Event()
        self._queue.put(event.set)
        return event

    def record_compute(self) -> threading.Event:
        """Has come: the caller has computed all it was asked to."""
        event = threading.Event()
        event.set()
        return event

    def copies_wait(self, event: threading.Event) -> None:
        """The thread waits when it comes to this place of the queue."""
        self._queue.put(event.wait)

    def compute_waits(self, event: threading.Event) -> None:
        """The caller waits."""
        event.wait()

    def flush(self) -> None:
        """Wait for the thread."""
        self.record_copies().wait()

    def _copy(self, host: Tensor, target: Tensor, name: str) -> None:
        begin = now()
        target.copy_(host)
        if self._emit is not None:
            thread = threading.current_thread().name
            self._emit(Interval(f"copy {name}", begin, now(), self._rank, thread))

    def _work(self) -> None:
        while True:
            self._queue.get()()
