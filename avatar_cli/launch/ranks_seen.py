"""What the parent knows of each rank, for the day on which the rank cannot say it itself."""

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path

from avatar_cli.protocol.events import Event, Failed, Interval, RankStarted, StageStarted, now
from avatar_cli.protocol.exit_codes import ExitCode

STOPPED_TIME = 4.0  # seconds for which a process may be stopped
_OWN_GAP = 1.5  # seconds between two looks that show that this process did not run either
_PROC = Path("/proc")
_STOPPED = "T"  # by a signal; a debugger shows as t
_COMPUTE_THREAD = "MainThread"


@dataclass
class _Rank:
    pid: int | None = None
    stopped_since: float | None = None
    stages: dict[str, tuple[str, str]] = field(default_factory=dict)  # stage and chunk, by thread


class RanksSeen:
    """Follows events; knows where ranks are, and which of them are stopped."""

    def __init__(self) -> None:
        self._ranks: dict[int, _Rank] = {}
        self._looked = now()

    def event(self, event: Event) -> None:
        """Take one event into account."""
        match event:
            case RankStarted():
                self._rank(event.rank).pid = event.pid
            case StageStarted():
                self._rank(event.rank).stages[event.thread] = (event.name, event.chunk)
            case Interval():
                stages = self._rank(event.rank).stages
                if stages.get(event.thread) == (event.name, event.chunk):
                    del stages[event.thread]

    @property
    def any(self) -> bool:
        """Whether a rank has said that it runs."""
        return any(rank.pid is not None for rank in self._ranks.values())

    def silences(self) -> dict[int, Failed]:
        """What to say of each rank that ran, in case that it is the one that kept the others waiting."""
        return {
            number: self._failure(number, "does not answer the other ranks")
            for number, rank in self._ranks.items()
            if rank.pid is not None
        }

    def placed(self, failure: Failed) -> Failed:
        """`failure` with the stage and chunk that its rank was in, where it names none itself."""
        stages = self._rank(failure.rank).stages
        if failure.stage or not stages:
            return failure
        stage, chunk = stages.get(_COMPUTE_THREAD) or next(iter(stages.values()))
        return dataclasses.replace(failure, stage=stage, chunk=chunk)

    def stopped(self) -> list[Failed]:
        """A failure for each rank that has been stopped for STOPPED_TIME, again at every call.

        A time in which this process did not run itself, such as a suspension of the whole job, counts for
        nobody. Without /proc nothing is found.
        """
        moment = now()
        if moment - self._looked > _OWN_GAP:
            for rank in self._ranks.values():
                rank.stopped_since = None
        self._looked = moment
        failures = []
        for number, rank in self._ranks.items():
            if rank.pid is None or _state(rank.pid) != _STOPPED:
                rank.stopped_since = None
            elif rank.stopped_since is None:
                rank.stopped_since = moment
            elif moment - rank.stopped_since > STOPPED_TIME:
                what = f"was stopped by a signal and did not go on for {STOPPED_TIME:.0f} s"
                failures.append(self._failure(number, what))
        return failures

    def _failure(self, number: int, what: str) -> Failed:
        message = f"Rank {number} (process {self._rank(number).pid}) {what}."
        return self.placed(Failed(int(ExitCode.FAILED), message, number, "", "", now(), traceback=""))

    def _rank(self, number: int) -> _Rank:
        return self._ranks.setdefault(number, _Rank())


def _state(pid: int) -> str:
    """The kernel's letter for what a process does, empty where there is no such process."""
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""
