"""The machine and the versions that figures were taken with."""

import datetime
import os
import platform
import re
import subprocess
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from avatar_cli import __version__
from avatar_cli.media.ffmpeg import ffmpeg_path

_PACKAGES = ("torch", "numpy", "opencv-python-headless", "ai-edge-litert")


@dataclass(frozen=True)
class Machine:
    """What a reader needs to compare figures.

    Attributes:
        processor: Model name.
        cores: Cores that this process may use.
        memory_gib: Main memory.
        system: Kernel.
        versions: Name to version of Python, the packages that compute, and ffmpeg.
        date: Of the measurement, ISO 8601, UTC.
        load: Processes that wanted to run in the last minute, before the measurement began.
    """

    processor: str
    cores: int
    memory_gib: float
    system: str
    versions: dict[str, str]
    date: str
    load: float

    def line(self) -> str:
        """What it is, without the day and its load."""
        versions = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        return f"{self.processor}, {self.cores} cores, {self.memory_gib:.0f} GiB, {self.system}; {versions}"


def this_machine() -> Machine:
    """The machine that this process runs on."""
    memory = re.search(r"MemTotal:\s+(\d+) kB", Path("/proc/meminfo").read_text())
    return Machine(
        processor=_processor(),
        cores=len(os.sched_getaffinity(0)),
        memory_gib=int(memory.group(1)) / 2**20 if memory else 0.0,
        system=f"{platform.system()} {platform.release()}",
        versions={
            "avatar": __version__,
            "Python": platform.python_version(),
            **{name: version(name) for name in _PACKAGES},
            "ffmpeg": _ffmpeg_version(),
        },
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        load=os.getloadavg()[0],
    )


def _processor() -> str:
    found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    return found.group(1).strip() if found else platform.machine()


def _ffmpeg_version() -> str:
    banner = subprocess.run(
        [str(ffmpeg_path()), "-version"], capture_output=True, text=True, check=True
    ).stdout
    return banner.split()[2]
