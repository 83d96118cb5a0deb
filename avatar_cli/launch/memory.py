"""Memory of the whole job: the proportional set size (PSS) of this process and all its descendants."""

from collections import defaultdict
from pathlib import Path

from avatar_cli.protocol.events import Event, now

PERIOD = 1.0  # seconds between two samples

_PROC = Path("/proc")


def descendants(pid: int) -> list[int]:
    """`pid` and everything below it."""
    children: dict[int, list[int]] = defaultdict(list)
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            parent = _parent(entry)
            if parent is not None:
                children[parent].append(int(entry.name))
    tree = [pid]
    for member in tree:
        tree.extend(children[member])
    return tree


def pss(pids: list[int]) -> int:
    """Sum of the proportional set sizes in bytes: a page that n processes share counts 1/n in each."""
    return sum(_pss(pid) for pid in pids)


class MemorySampler:
    """Samples the job's memory now and then; a job of several processes has no peak counter of its own."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._next = 0.0
        self.peak = 0  # bytes
        self.last = 0  # bytes
        self.taken_at = 0.0  # of the last sample, on the events' clock
        self.samples = 0

    def event(self, event: Event) -> None:
        """Nothing to learn from events."""

    def tick(self) -> None:
        """Take a sample when one is due."""
        if now() < self._next:
            return
        self.taken_at = now()
        self._next = self.taken_at + PERIOD
        self.last = pss(descendants(self._pid))
        self.peak = max(self.peak, self.last)
        self.samples += 1


def _parent(process: Path) -> int | None:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):  # it has just ended
        return None


def _pss(pid: int) -> int:
    try:
        rollup = (_PROC / str(pid) / "smaps_rollup").read_text()
    except (FileNotFoundError, ProcessLookupError, PermissionError):  # ended, or ending
        return 0
    for line in rollup.splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0
