"""How a job ended: from everything that was heard, the one thing to tell the user."""

import signal
from dataclasses import dataclass, field

from avatar_cli.launch.ranks_seen import STOPPED_TIME
from avatar_cli.protocol.events import Failed, Finished
from avatar_cli.protocol.exit_codes import ExitCode

HEAD_START = 1.0  # seconds; a death is noticed later than the errors it causes in other ranks


@dataclass(frozen=True)
class Ending:
    """The end of a job as the user sees it."""

    code: ExitCode
    message: str = ""  # one sentence, empty when done
    traceback: str = ""
    finished: Finished | None = None


@dataclass
class Evidence:
    """What the parent has heard until the last process was gone."""

    finished: Finished | None = None
    errors: list[Failed] = field(default_factory=list)  # from the ranks themselves
    deaths: list[Failed] = field(default_factory=list)  # from the launcher, about ranks and about itself
    stopped: dict[int, Failed] = field(default_factory=dict)  # ranks that did not go on after a signal
    vanished: set[int] = field(default_factory=set)  # ranks whose pipe closed without a last word
    silences: dict[int, Failed] = field(default_factory=dict)  # of ranks, in case that others wait in vain
    publishes: bool = True  # the rank that publishes is one of these
    interrupted: bool = False  # by a signal to the parent
    launcher_status: int | None = None  # None where the parent ended it itself


def conclude(evidence: Evidence) -> Ending:
    """The first cause in time.

    A rank that was killed takes others with it: their errors come earlier than the news of the death, so a
    death counts as HEAD_START earlier than it was noticed. What happened because ranks were told to stop
    counts last, and before it what ranks say that only lost the others: then one that says nothing is named.
    """
    if evidence.finished is not None:
        return Ending(ExitCode.DONE, finished=evidence.finished)
    if evidence.interrupted:
        return Ending(ExitCode.INTERRUPTED, "Interrupted.")

    spoke = {error.rank for error in evidence.errors}
    own_errors = [error for error in evidence.errors if error.code != ExitCode.INTERRUPTED]
    lost = [error for error in own_errors if error.about_peers]
    causes = [(error.time, error) for error in own_errors if not error.about_peers]
    causes += [(stop.time - STOPPED_TIME, stop) for stop in evidence.stopped.values()]
    causes += [(death.time - HEAD_START, death) for death in evidence.deaths if death.rank not in spoke]
    if causes:
        first = min(causes, key=lambda cause: cause[0])[1]
        return Ending(ExitCode(first.code), _sentence(first), first.traceback)

    status = evidence.launcher_status
    if status is not None and status < 0:
        return Ending(ExitCode.FAILED, f"The launcher was killed by {signal.Signals(-status).name}.")
    if evidence.vanished:
        rank = min(evidence.vanished)
        return Ending(ExitCode.FAILED, f"Rank {rank} ended before its work was done and gave no reason.")
    if lost:
        silent = [failure for rank, failure in sorted(evidence.silences.items()) if rank not in spoke]
        return Ending(ExitCode.FAILED, _sentence((silent or lost)[0]), lost[0].traceback)
    if evidence.errors:
        return Ending(ExitCode.INTERRUPTED, _sentence(evidence.errors[0]))
    if not evidence.publishes and not status:
        return Ending(ExitCode.DONE)
    return Ending(
        ExitCode.FAILED,
        f"The launcher ended with status {status} before the video was done: --debug shows more.",
    )


def _sentence(failure: Failed) -> str:
    where = ", ".join(
        part
        for part in (failure.stage and f"stage {failure.stage}", failure.chunk and f"chunk {failure.chunk}")
        if part
    )
    return f"{failure.message.rstrip('.')} ({where})." if where else failure.message
