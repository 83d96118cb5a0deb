"""Times and memory peaks as events."""

import resource
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from avatar_cli.protocol.events import EventSink, Interval, Memory, now

_RUSAGE_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes of one unit of ru_maxrss


@contextmanager
def interval(emit: EventSink, name: str, chunk: str = "", rank: int = 0) -> Iterator[None]:
    """Emit one Interval for the body, also when the body fails."""
    begin = now()
    try:
        yield
    finally:
        emit(Interval(name, begin, now(), rank, threading.current_thread().name, chunk))


def memory_peaks(rank: int = 0) -> Memory:
    """Highest resident size of this process so far, and of tensors on its GPU (0 without one), in bytes."""
    host_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RUSAGE_UNIT
    torch = sys.modules.get("torch")  # a process that never imported it has nothing on a GPU
    on_gpu = torch is not None and torch.cuda.is_available()
    device_peak = torch.cuda.max_memory_allocated() if torch is not None and on_gpu else 0
    return Memory(rank, host_peak, device_peak)
