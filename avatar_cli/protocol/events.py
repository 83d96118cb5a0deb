"""Typed events that ranks send to the parent, one JSON object a line.

Times are seconds of CLOCK_MONOTONIC, which all processes of a machine share.
"""

import dataclasses
import json
import time
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol


def now() -> float:
    """Seconds on the clock that all processes of a job share."""
    return time.monotonic()


@dataclass(frozen=True)
class Event:
    """Base of all events; `kind` is the name on the wire."""

    kind: ClassVar[str] = ""


@dataclass(frozen=True)
class LauncherReady(Event):
    """The launcher has imported what ranks need, and has seen so many GPUs."""

    kind: ClassVar[str] = "launcher_ready"
    gpus: int
    time: float


@dataclass(frozen=True)
class RankStarted(Event):
    """A rank runs and has its job."""

    kind: ClassVar[str] = "rank_started"
    rank: int
    pid: int
    time: float
    environment: dict[str, Any]  # device, threads, affinity, NUMA node of its GPU


@dataclass(frozen=True)
class Interval(Event):
    """A piece of work with its begin and end, for the waterfall, the per-stage sums and the trace.

    `name` is the stage or phase (imports, load, reference, context, a2v, sr, decode, enter NAME, ...);
    `chunk` is a label such as `N0`, empty where the work belongs to no chunk.
    """

    kind: ClassVar[str] = "interval"
    name: str
    begin: float
    end: float
    rank: int
    thread: str
    chunk: str = ""


@dataclass(frozen=True)
class StageStarted(Event):
    """A thread of a rank begins a stage or phase; an Interval of the same name follows when it is done.

    It tells where a rank was that can no longer say so itself.
    """

    kind: ClassVar[str] = "stage_started"
    name: str
    chunk: str
    rank: int
    thread: str
    time: float


@dataclass(frozen=True)
class Instant(Event):
    """A moment worth knowing: first_frame, first_packet, first_bytes, stall_free."""

    kind: ClassVar[str] = "instant"
    name: str
    time: float
    rank: int


@dataclass(frozen=True)
class Progress(Event):
    """Frames handed to the encoder so far; `total` once the length is known or estimated."""

    kind: ClassVar[str] = "progress"
    frames: int
    total: int | None
    time: float
    stage: str


@dataclass(frozen=True)
class ReferenceWatched(Event):
    """What a reference video showed of the person.

    `usable` of its `frames` show the face well enough to be measured; `left_out` show, after a cut, a face
    that is not taken for the person's. `seconds` is the moment that the video is rendered from. `habits` are
    ratios to what is usual, by name; 1 is usual.
    """

    kind: ClassVar[str] = "reference_watched"
    frames: int
    usable: int
    left_out: int
    seconds: float
    open_mouth: bool
    closed_eyes: bool
    voice: bool
    habits: dict[str, float]


@dataclass(frozen=True)
class Warned(Event):
    """Something the user should know although the job goes on: one sentence."""

    kind: ClassVar[str] = "warning"
    message: str


@dataclass(frozen=True)
class Memory(Event):
    """Peaks of one process, in bytes."""

    kind: ClassVar[str] = "memory"
    rank: int
    host_peak: int
    device_peak: int


@dataclass(frozen=True)
class Failed(Event):
    """The first error of a rank; `code` is an ExitCode value.

    `about_peers` is true where the rank only lost the other ranks, or waited for them in vain.
    """

    kind: ClassVar[str] = "failed"
    code: int
    message: str
    rank: int
    stage: str
    chunk: str
    time: float
    traceback: str
    about_peers: bool = False


@dataclass(frozen=True)
class Finished(Event):
    """The output is complete and in its place."""

    kind: ClassVar[str] = "finished"
    output: str
    frames: int
    duration: float  # seconds of video
    time: float


EVENTS: dict[str, type[Event]] = {
    cls.kind: cls
    for cls in (
        LauncherReady,
        RankStarted,
        Interval,
        StageStarted,
        Instant,
        Progress,
        ReferenceWatched,
        Warned,
        Memory,
        Failed,
        Finished,
    )
}


class EventSink(Protocol):
    """Anything that takes events; safe to call from several threads."""

    def __call__(self, event: Event) -> None:
        """Take one event."""


def to_line(event: Event) -> str:
    """One line of JSON, without the newline."""
    return json.dumps({"event": event.kind, **dataclasses.asdict(event)})


def from_line(line: str) -> Event:
    """Inverse of `to_line`. Raises KeyError for an unknown kind, ValueError for broken JSON."""
    data = json.loads(line)
    return EVENTS[data.pop("event")](**data)
