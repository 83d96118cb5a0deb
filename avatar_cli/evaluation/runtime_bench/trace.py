"""A short traced run: what the device did when, and a Chrome trace with stages, blocks and copies by name.

On a GPU the profiler tells kernels and copies. Without one events stand for them: the computation of a block
for its kernels, and the copies of the imitation for those of a device.
"""

import json
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from avatar_cli.evaluation.runtime_bench.intervals import Stretch
from avatar_cli.protocol.events import Event, Interval, now

_ANCHOR = "bench clock"
_ANCHORS = 5
_OWN_TRACK = 999_999  # process number of the runtime's own events in the trace
_MICRO = 1e6


@dataclass
class Recorder:
    """An event sink that keeps Intervals."""

    intervals: list[Interval] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        """Keep one."""
        if isinstance(event, Interval):
            self.intervals.append(event)


@dataclass(frozen=True)
class Activity:
    """When blocks computed, copies went to the device, and all-gathers ran; `copied` by the block's name."""

    compute: list[Stretch]
    copies: list[Stretch]
    gathers: list[Stretch]
    copied: list[tuple[str, float]]  # name of the part and seconds that its copy took


def traced(run: Callable[[], Any], recorder: Recorder, on_gpu: bool, file: Path | None) -> Activity:
    """Run with events, and the profiler where it is needed; `file` gets the Chrome trace."""
    if not on_gpu and file is None:
        run()
        return _from_events(recorder.intervals)
    activities = [torch.profiler.ProfilerActivity.CPU]
    if on_gpu:
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    with torch.profiler.profile(activities=activities) as profiler:
        anchor = _anchor()
        run()
        if on_gpu:
            torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(raw))
        trace = json.loads(raw.read_text())
    if file is not None:
        trace["traceEvents"] += _own_events(recorder.intervals, _offset(trace, anchor))
        file.write_text(json.dumps(trace))
    from_events = _from_events(recorder.intervals)
    return _from_profile(trace, from_events.copied) if on_gpu else from_events


def _from_events(intervals: Iterable[Interval]) -> Activity:
    found: dict[str, list[Stretch]] = {"compute": [], "copy": [], "gather": []}
    copied = []
    for event in intervals:
        what, _, part = event.name.partition(" ")
        if what in found:
            found[what].append((event.begin, event.end))
        if what == "copy":
            copied.append((part, event.end - event.begin))
    return Activity(found["compute"], found["copy"], found["gather"], copied)


def _from_profile(trace: dict[str, Any], copied: list[tuple[str, float]]) -> Activity:
    found: dict[str, list[Stretch]] = {"compute": [], "copy": [], "gather": []}
    for event in trace["traceEvents"]:
        category, name = event.get("cat"), event.get("name", "")
        if category == "kernel":
            kind = "gather" if name.startswith("nccl") and "AllGather" in name else "compute"
        elif category == "gpu_memcpy" and "HtoD" in name:
            kind = "copy"
        else:
            continue
        begin = event["ts"] / _MICRO
        found[kind].append((begin, begin + event["dur"] / _MICRO))
    return Activity(found["compute"], found["copy"], found["gather"], copied)


@dataclass(frozen=True)
class _Anchor:
    """A moment on both clocks: the profiler's range of that name began at `time`."""

    name: str
    time: float


def _anchor() -> _Anchor:
    """The best of some: this thread may lose the processor between the range and the look at the clock."""
    found = []
    for number in range(_ANCHORS):
        begin = now()
        with torch.profiler.record_function(f"{_ANCHOR} {number}"):
            pass
        found.append((now() - begin, _Anchor(f"{_ANCHOR} {number}", begin)))
    return min(found, key=lambda item: item[0])[1]


def _offset(trace: dict[str, Any], anchor: _Anchor) -> float:
    """What to add to a moment of the events' clock, in microseconds, for the trace's clock."""
    (event,) = (
        event
        for event in trace["traceEvents"]
        if event.get("name") == anchor.name and event.get("cat") == "user_annotation"
    )
    return event["ts"] - anchor.time * _MICRO


def _own_events(intervals: Iterable[Interval], offset: float) -> Iterable[dict[str, Any]]:
    """The runtime's events, a row for stages, blocks, copies and gathers each."""
    yield _label("process_name", 0, "stages, blocks and copies")
    rows: dict[str, int] = {}
    for event in intervals:
        what = event.name.partition(" ")[0] if " " in event.name else f"stages of {event.thread}"
        if what not in rows:
            rows[what] = len(rows) + 1
            yield _label("thread_name", rows[what], what)
        yield {
            "ph": "X",
            "name": f"{event.name} {event.chunk}".strip(),
            "cat": what,
            "pid": _OWN_TRACK,
            "tid": rows[what],
            "ts": event.begin * _MICRO + offset,
            "dur": (event.end - event.begin) * _MICRO,
        }


def _label(kind: str, row: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": _OWN_TRACK, "tid": row, "args": {"name": name}}
