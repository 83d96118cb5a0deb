"""Streams, events and pinned memory of a GPU: all of the streaming of weights that only CUDA can run."""

import mmap
from collections import deque

import torch
from torch import Tensor

from avatar_cli.protocol.errors import EnvironmentProblem
from avatar_cli.protocol.events import EventSink, Interval, now

PORTABLE = 1  # cudaHostRegisterPortable: pinned for every context of the process


class CudaCopies:
    """A `CopyEngine` for one GPU; `emit` gets an Interval for every copy, timed on the device.

    The compute stream is the stream that is current where a method is called.
    """

    def __init__(self, device: torch.device, emit: EventSink | None = None, rank: int = 0) -> None:
        self.device = device
        self._emit = emit
        self._rank = rank
        self._stream = torch.cuda.Stream(device)
        self._timed: deque[tuple[str, torch.cuda.Event, torch.cuda.Event]] = deque()
        if emit is not None:
            self._origin = torch.cuda.Event(enable_timing=True)
            self._origin.record(self._stream)
            self._origin.synchronize()
            self._origin_time = now()

    def host(self, nbytes: int) -> Tensor:
        """Pages of their own, registered with the driver. Raises EnvironmentProblem.

        Not `pin_memory`: torch's allocator of pinned memory rounds sizes up to a power of two.
        """
        pages = mmap.mmap(-1, max(nbytes, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        tensor = torch.frombuffer(pages, dtype=torch.uint8)  # keeps the pages
        status = torch.cuda.cudart().cudaHostRegister(tensor.data_ptr(), tensor.nbytes, PORTABLE)
        if int(status) != 0:
            raise EnvironmentProblem(
                f"{nbytes} bytes of memory cannot be pinned for the GPU ({status}): free memory on this "
                "machine, raise its limit of locked memory (ulimit -l), or choose a smaller model"
            )
        return tensor[:nbytes]

    def free_host(self, host: Tensor) -> None:
        """Unregister; the pages go with the last reference."""
        pages = host.untyped_storage().data_ptr()  # that of an empty tensor would be 0
        torch.cuda.check_error(torch.cuda.cudart().cudaHostUnregister(pages))

    def allocate(self, nbytes: int) -> Tensor:
        """From the allocator of the compute stream; the copy stream is kept apart by events alone."""
        return torch.empty(nbytes, dtype=torch.uint8, device=self.device)

    def copy(self, host: Tensor, target: Tensor, name: str) -> None:
        """Queue one copy."""
        with torch.cuda.stream(self._stream), torch.profiler.record_function(f"copy {name}"):
            if self._emit is None:
                target.copy_(host, non_blocking=True)
                return
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record(self._stream)
            target.copy_(host, non_blocking=True)
            end.record(self._stream)
            self._timed.append((name, begin, end))
            self._tell()

    def record_copies(self) -> torch.cuda.Event:
        """An event of the copy stream."""
        return self._stream.record_event()

    def record_compute(self) -> torch.cuda.Event:
        """An event of the compute stream."""
        return torch.cuda.current_stream(self.device).record_event()

    def copies_wait(self, event: torch.cuda.Event) -> None:
        """The copy stream waits."""
        self._stream.wait_event(event)

    def compute_waits(self, event: torch.cuda.Event) -> None:
        """The compute stream waits."""
        torch.cuda.current_stream(self.device).wait_event(event)

    def flush(self) -> None:
        """Wait for the copy stream."""
        self._stream.synchronize()
        self._tell()

    def _tell(self) -> None:
        """Emit the copies that are done: no event is waited for."""
        while self._timed and self._timed[0][2].query():
            name, begin, end = self._timed.popleft()
            times = [
                self._origin_time + self._origin.elapsed_time(event) / 1000  # elapsed_time is in ms
                for event in (begin, end)
            ]
            assert self._emit is not None
            self._emit(Interval(f"copy {name}", times[0], times[1], self._rank, "copies"))
