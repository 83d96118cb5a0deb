"""Times and memory peaks as events."""

import resource
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from avatar_cli.protocol.events import EventSink, Interval, Memory, StageStarted, now

_STATUS = Path("/proc/self/status")


@contextmanager
def interval(emit: EventSink, name: str, chunk: str = "", rank: int = 0) -> Iterator[None]:
    """Emit one Interval for the body, also when the body fails."""
    begin = now()
    try:
        yield
    finally:
        emit(Interval(name, begin, now(), rank, threading.current_thread().name, chunk))


@contextmanager
def stage(emit: EventSink, name: str, chunk: str = "", rank: int = 0) -> Iterator[None]:
    """Like `interval` for a stage or phase of a job, which is also told when it begins."""
    emit(StageStarted(name, chunk, rank, threading.current_thread().name, now()))
    with interval(emit, name, chunk, rank):
        yield


def memory_peaks(rank: int = 0) -> Memory:
    """Highest resident size of this process so far, and of tensors on its GPU (0 without one), in bytes."""
    torch = sys.modules.get("torch")  # a process that never imported it has nothing on a GPU
    on_gpu = torch is not None and torch.cuda.is_available()
    device_peak = torch.cuda.max_memory_allocated() if torch is not None and on_gpu else 0
    return Memory(rank, _host_peak(), device_peak)


def _host_peak() -> int:
    if not _STATUS.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS
    # Not ru_maxrss here: on Linux a child starts with the peak of the process that forked it.
    (line,) = (line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024
