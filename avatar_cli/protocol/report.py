"""The report of a render (`--report FILE`). Times are seconds, sizes bytes; moments count from the start."""

import dataclasses
import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Step:
    """A piece of work on the way to the first frame."""

    name: str
    chunk: str  # empty where the work belongs to no chunk
    process: str  # command, launcher or rank N
    begin: float
    end: float
    busy: float  # less than end - begin where the work came in several pieces


@dataclass(frozen=True)
class FirstFrame:
    """Time to first frame, from the moment the command was started."""

    first_frame: float | None  # its pixels exist
    first_packet: float | None  # the encoder has it
    first_bytes: float | None  # the partial file begins to play: this is the TTFF
    stall_free_start: float | None  # a player that starts now never waits for a frame
    waterfall: tuple[Step, ...]


@dataclass(frozen=True)
class Speed:
    """Frames a second; warm-up, which is the first chunk, and steady state never mix."""

    frames: int
    duration: float  # of the video
    warm_up_frames: int | None  # None where the video ended within the warm-up
    steady_fps: float | None  # from the end of the warm-up until the file was complete
    overall_fps: float  # from the command until the file was complete


@dataclass(frozen=True)
class Total:
    """Sum over all calls of one kind of work on all ranks."""

    calls: int
    seconds: float
    longest: float


@dataclass(frozen=True)
class RankPeaks:
    """Highest memory use of one rank."""

    host: int
    device: int


@dataclass(frozen=True)
class MemoryUse:
    """Peak memory of the job."""

    pss_peak: int  # proportional set size of all processes, sampled
    samples: int
    ranks: dict[str, RankPeaks]


@dataclass(frozen=True)
class Report:
    """Everything about one render."""

    output: str
    job: dict[str, Any]  # the job as it was handed over, with the chunk plan, the seed and the threads
    reference: dict[str, Any] | None  # what a reference video showed; None for a picture
    environment: dict[str, Any]  # versions, the machine, and by rank its device, threads, processors
    ttff: FirstFrame
    speed: Speed
    stages: dict[str, Total]  # work by name
    switches: dict[str, Total]  # "enter MODEL" and "leave MODEL": what changing from one to the next cost
    memory: MemoryUse
    warnings: tuple[str, ...]

    def to_json(self) -> str:
        """The file's text."""
        return json.dumps(dataclasses.asdict(self), indent=2) + "\n"
