"""Writes the trace of a job in Chrome's trace event format, which Perfetto and chrome://tracing open.

The format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU. Events are
written as they come, so that a long job needs no memory and a job that is cut off leaves a trace that still
opens: the format allows the closing bracket to be missing.
"""

import json
from pathlib import Path
from typing import Any

from avatar_cli.launch.memory import MemorySampler
from avatar_cli.protocol.errors import EnvironmentProblem
from avatar_cli.protocol.events import Event, Failed, Instant, Interval, Progress

PARENT = 0  # the parent's and launcher's process number in the trace; rank r is r + 1


def unwritten(what: str, path: Path, error: OSError) -> str:
    """The sentence about a file beside the video that could not be written."""
    return f"The {what} cannot be written to {path} ({error.strerror}): choose another file."


class TraceWriter:
    """A listener that writes one file.

    A file that cannot be written to its end does not end the job: it is given up, and `fault` says so.
    """

    def __init__(self, path: Path, started: float, memory: MemorySampler) -> None:
        """Open the file.

        Args:
            path: The trace file; an existing one is replaced.
            started: Zero of the trace's clock, on the events' clock.
            memory: Its samples become a counter track.

        Raises:
            EnvironmentProblem: The file cannot be opened.
        """
        self.fault: str | None = None
        self._path = path
        try:
            self._file = path.open("w")
        except OSError as error:
            raise EnvironmentProblem(unwritten("trace", path, error)) from error
        self._started = started
        self._memory = memory
        self._memory_samples = 0
        self._threads: dict[tuple[int, str], int] = {}
        self._processes: set[int] = set()
        self._file.write("[\n")

    def event(self, event: Event) -> None:
        """Write one event, and names for a process or thread that was not seen before."""
        match event:
            case Interval():
                span = {"ts": self._time(event.begin), "dur": round((event.end - event.begin) * 1e6)}
                track = self._track(event.rank, event.thread)
                label = f"{event.name} {event.chunk}".strip()
                self._write(
                    {"ph": "X", "name": label, "cat": event.name, "args": {"chunk": event.chunk}}
                    | span
                    | track
                )
            case Instant():
                moment = {"ts": self._time(event.time), "pid": self._process(event.rank), "tid": 0}
                self._write({"ph": "i", "s": "g", "name": event.name} | moment)
            case Failed():
                moment = {"ts": self._time(event.time), "pid": self._process(event.rank), "tid": 0}
                self._write(
                    {"ph": "i", "s": "g", "name": "failed", "args": {"message": event.message}} | moment
                )
            case Progress():
                self._count("frames", event.time, event.frames)

    def tick(self) -> None:
        """Write the latest memory sample."""
        if self._memory.samples > self._memory_samples:
            self._memory_samples = self._memory.samples
            self._count("memory (PSS)", self._memory.taken_at, self._memory.last)

    def close(self) -> None:
        """Complete the file."""
        self._write(
            {"ph": "M", "name": "process_sort_index", "pid": PARENT, "args": {"sort_index": -1}}, end="\n]\n"
        )
        try:
            self._file.close()
        except OSError as error:
            self._give_up(error)

    def _track(self, rank: int, thread: str) -> dict[str, int]:
        process = self._process(rank)
        if (process, thread) not in self._threads:
            self._threads[process, thread] = len(self._threads) + 1
            tid = self._threads[process, thread]
            self._write(
                {"ph": "M", "name": "thread_name", "pid": process, "tid": tid, "args": {"name": thread}}
            )
        return {"pid": process, "tid": self._threads[process, thread]}

    def _process(self, rank: int) -> int:
        process = rank + 1
        if process not in self._processes:
            self._processes.add(process)
            name = "avatar" if process == PARENT else f"rank {rank}"
            self._write({"ph": "M", "name": "process_name", "pid": process, "args": {"name": name}})
        return process

    def _count(self, name: str, time: float, value: int) -> None:
        counter = {"ph": "C", "name": name, "ts": self._time(time), "pid": PARENT, "args": {name: value}}
        self._write(counter)

    def _time(self, moment: float) -> int:
        return round((moment - self._started) * 1e6)

    def _write(self, item: dict[str, Any], end: str = ",\n") -> None:
        if self.fault:
            return
        try:
            self._file.write(json.dumps(item) + end)
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self.fault = self.fault or unwritten("trace", self._path, error)
