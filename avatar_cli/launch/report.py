"""Builds the report from the events of a job, in constant memory."""

import importlib.metadata
import json
import os
import platform
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path

from avatar_cli import __version__
from avatar_cli.launch.memory import MemorySampler
from avatar_cli.protocol.events import (
    Event,
    Finished,
    Instant,
    Interval,
    Memory,
    Progress,
    RankStarted,
    ReferenceWatched,
    Warned,
)
from avatar_cli.protocol.job import RenderJob
from avatar_cli.protocol.report import FirstFrame, MemoryUse, RankPeaks, Report, Speed, Step, Total

SWITCHES = ("enter", "leave")  # first words of the names of intervals in which a model comes or goes
FIRST_CHUNKS = ("", "N0")
LEAST_STEADY_FRAMES = 50  # after the warm-up; a rate over fewer says more of the file's end than of the work
PACKAGES = ("torch", "numpy", "opencv-python-headless", "ai-edge-litert", "safetensors", "imageio-ffmpeg")


@dataclass
class _Sum:
    calls: int = 0
    seconds: float = 0.0
    longest: float = 0.0

    def add(self, seconds: float) -> None:
        self.calls += 1
        self.seconds += seconds
        self.longest = max(self.longest, seconds)

    def total(self) -> Total:
        return Total(self.calls, self.seconds, self.longest)


@dataclass
class _Work:
    begin: float
    end: float
    busy: float


class ReportBuilder:
    """A listener that adds up; ask for the report when the job is done."""

    def __init__(self, job: RenderJob, started: float, memory: MemorySampler) -> None:
        """Prepare.

        Args:
            job: The job as handed over.
            started: When the command was started, on the events' clock.
            memory: Sampled elsewhere.
        """
        self._job = job
        self._started = started
        self._memory = memory
        self._instants: dict[str, float] = {}
        self._first: dict[tuple[str, str, int, str], _Work] = {}
        self._sums: dict[str, _Sum] = {}
        self._switches: dict[str, _Sum] = {}
        self._ranks: dict[str, object] = {}
        self._peaks: dict[str, RankPeaks] = {}
        self._warnings: list[str] = []
        self._reference: ReferenceWatched | None = None
        self.frames = 0  # that the encoder was given
        self._warm: Progress | None = None
        self._stall_free = started

    def event(self, event: Event) -> None:
        """Take one event into account."""
        match event:
            case Interval():
                self._add_interval(event)
            case Instant():
                self._instants.setdefault(event.name, event.time)
            case Progress():
                self._add_progress(event)
            case RankStarted():
                self._ranks[str(event.rank)] = event.environment
            case Memory():
                self._peaks[str(event.rank)] = RankPeaks(event.host_peak, event.device_peak)
            case ReferenceWatched():
                self._reference = event
            case Warned():
                self._warnings.append(event.message)

    def tick(self) -> None:
        """Nothing to do between events."""

    @property
    def began(self) -> bool:
        """Whether the encoder was given a frame."""
        return self.frames > 0 or "first_frame" in self._instants

    @property
    def first_bytes(self) -> float | None:
        """Time to first frame so far: from the command to the first bytes that play."""
        return self._since_start("first_bytes")

    def report(self, finished: Finished) -> Report:
        """The report of a job that is done."""
        return Report(
            output=finished.output,
            job=json.loads(self._job.to_json()),
            reference=asdict(self._reference) if self._reference else None,
            environment={"versions": _versions(), "machine": _machine(), "ranks": self._ranks},
            ttff=FirstFrame(
                first_frame=self._since_start("first_frame"),
                first_packet=self._since_start("first_packet"),
                first_bytes=self.first_bytes,
                stall_free_start=self._stall_free_start(),
                waterfall=self._waterfall(),
            ),
            speed=self.speed(finished),
            stages={name: sum_.total() for name, sum_ in self._sums.items()},
            switches={name: sum_.total() for name, sum_ in self._switches.items()},
            memory=MemoryUse(self._memory.peak, self._memory.samples, self._peaks),
            warnings=tuple(self._warnings),
        )

    def speed(self, finished: Finished) -> Speed:
        """Frames a second of a job that is done."""
        warm = self._warm
        if warm is not None and finished.frames - warm.frames < LEAST_STEADY_FRAMES:
            warm = None
        return Speed(
            frames=finished.frames,
            duration=finished.duration,
            warm_up_frames=warm.frames if warm else None,
            steady_fps=(finished.frames - warm.frames) / (finished.time - warm.time) if warm else None,
            overall_fps=finished.frames / (finished.time - self._started),
        )

    def _add_interval(self, event: Interval) -> None:
        seconds = event.end - event.begin
        if event.name.split()[0] in SWITCHES:
            self._switches.setdefault(event.name, _Sum()).add(seconds)
            return
        self._sums.setdefault(event.name, _Sum()).add(seconds)
        if event.chunk in FIRST_CHUNKS and event.begin < self._instants.get("first_bytes", float("inf")):
            key = (event.name, event.chunk, event.rank, event.thread)
            work = self._first.setdefault(key, _Work(event.begin, event.end, 0.0))
            work.begin = min(work.begin, event.begin)
            work.end = max(work.end, event.end)
            work.busy += seconds

    def _add_progress(self, event: Progress) -> None:
        """Frames from self.frames on have become available by now, the first of them at the latest."""
        if event.frames > self.frames:
            self._stall_free = max(self._stall_free, event.time - self._seconds(self.frames))
            self.frames = event.frames
        if self._warm is None and event.frames >= self._job.generation.chunk_frames:
            self._warm = event

    def _stall_free_start(self) -> float | None:
        """When playing can start, if each frame takes as long through the encoder as the first did."""
        if "first_bytes" not in self._instants or "first_frame" not in self._instants:
            return None
        through_the_encoder = self._instants["first_bytes"] - self._instants["first_frame"]
        return self._stall_free + through_the_encoder - self._started

    def _waterfall(self) -> tuple[Step, ...]:
        steps = [
            Step(
                name,
                chunk,
                f"rank {rank}" if rank >= 0 else thread,
                work.begin - self._started,
                work.end - self._started,
                work.busy,
            )
            for (name, chunk, rank, thread), work in self._first.items()
        ]
        return tuple(sorted(steps, key=lambda step: (step.begin, step.end)))

    def _since_start(self, instant: str) -> float | None:
        return self._instants[instant] - self._started if instant in self._instants else None

    def _seconds(self, frames: int) -> float:
        return float(Fraction(frames) / self._job.picture.fps)


def _versions() -> dict[str, str]:
    """What is installed; asking imports none of it."""
    versions = {"avatar": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except (
            importlib.metadata.PackageNotFoundError
        ):  # another package brings the module, such as opencv-python
            versions[name] = "unknown"
    return versions


def _machine() -> dict[str, object]:
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    }


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()
