"""Memory of a job as the machine sees it: the PSS of every process of it, sampled from outside."""

import os
import threading
import uuid
from dataclasses import dataclass
from pathlib import Path

MARK = "AVATAR_BENCHMARK_JOB"
SAMPLE_SECONDS = 0.25  # a sample of a torch process costs milliseconds


@dataclass(frozen=True)
class JobMark:
    """A value in the environment that all processes of a job inherit, whoever becomes their parent."""

    value: str

    @classmethod
    def new(cls) -> "JobMark":
        """A mark that no other job has."""
        return cls(uuid.uuid4().hex)

    def environment(self) -> dict[str, str]:
        """This process's environment with the mark, for the first process of the job."""
        return {**os.environ, MARK: self.value}

    def processes(self) -> list[int]:
        """Ids of the processes that run with the mark."""
        wanted = f"{MARK}={self.value}".encode()
        ids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
        return [pid for pid in ids if wanted in _proc_bytes(pid, "environ").split(b"\0")]


def process_pss(pid: int) -> int:
    """Proportional set size in bytes: private memory, and each shared page divided by its users.

    0 for a process that has ended. Source: Linux, Documentation/filesystems/proc.rst, smaps_rollup.
    """
    for line in _proc_bytes(pid, "smaps_rollup").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def job_pss(mark: JobMark) -> dict[int, int]:
    """PSS in bytes of every process of a job, by process id."""
    return {pid: process_pss(pid) for pid in mark.processes()}


class PssSamples:
    """Samples a job in a thread of its own until `stop`; each sample is the sum over all its processes."""

    def __init__(self, mark: JobMark) -> None:
        self._mark = mark
        self._stop = threading.Event()
        self._samples: list[int] = []
        self._thread = threading.Thread(target=self._sample, name="pss", daemon=True)
        self._thread.start()

    def stop(self) -> list[int]:
        """No more samples; those taken, in bytes, in order of time."""
        self._stop.set()
        self._thread.join()
        return self._samples

    def _sample(self) -> None:
        while not self._stop.wait(SAMPLE_SECONDS):
            self._samples.append(sum(job_pss(self._mark).values()))


def _proc_bytes(pid: int, name: str) -> bytes:
    """Contents of /proc/PID/NAME; empty where the process has ended or is not ours to read."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
