"""Starts the single rank of a command that an outer launcher has started as one of several."""

import multiprocessing
import os
from collections.abc import Callable
from typing import Any

from avatar_cli.protocol.outer import Outer
from avatar_cli.worker.entry import RankTask, run_rank


def run_joined_rank(
    task: RankTask, outer: Outer, start_method: str, heartbeat: Callable[[], None], shutdown_time: float
) -> tuple[int, int]:
    """Run the rank to its end; returns its process number and status, negative for a signal.

    `heartbeat` waits a moment and may raise to end the job; then the rank is told to end, and killed when it
    has not done so within `shutdown_time` seconds.
    """
    context: Any = multiprocessing.get_context(start_method)
    process = context.Process(target=_run, args=(task, outer), name=f"rank {outer.rank}")
    process.start()
    try:
        while process.exitcode is None:
            heartbeat()
    except BaseException:
        process.terminate()
        process.join(shutdown_time)
        process.kill()
        process.join()
        raise
    assert process.pid is not None
    return process.pid, process.exitcode


def _run(task: RankTask, outer: Outer) -> None:
    os.environ |= {
        "RANK": str(outer.rank),
        "LOCAL_RANK": str(outer.local_rank),
        "WORLD_SIZE": str(outer.ranks),
    }
    run_rank(task)
