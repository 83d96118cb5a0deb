"""Starts the ranks of a bench, or joins those that an outer launcher has started."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch

from avatar_cli.evaluation.runtime_bench.bench import Request, bench
from avatar_cli.evaluation.runtime_bench.results import Results
from avatar_cli.protocol.errors import EnvironmentProblem
from avatar_cli.protocol.outer import Outer
from avatar_cli.worker.peers import join_peers, leave_peers

Tell = Callable[[str], None]
Done = Callable[[Results], None]


def run_ranks(request: Request, threads: int, outer: Outer | None, tell: Tell, done: Done) -> None:
    """Run the bench on `request.ranks` ranks; `tell` and `done` are called on rank 0 only.

    Both must survive being sent to another process where ranks are started here. Raises AvatarError.
    """
    torch.set_num_threads(threads)
    if outer is not None:
        _run_rank(request, outer, tell, done)
    elif request.ranks == 1:
        done(bench(request, tell))
    else:
        with tempfile.TemporaryDirectory() as folder:
            _start_ranks(request, threads, Path(folder) / "store", tell, done)


def _start_ranks(request: Request, threads: int, store: Path, tell: Tell, done: Done) -> None:
    arguments = (request, threads, store, tell, done)
    try:
        torch.multiprocessing.spawn(_started_rank, arguments, nprocs=request.ranks)
    except torch.multiprocessing.ProcessRaisedException as error:
        reason = str(error).strip().splitlines()[-1]
        raise EnvironmentProblem(f"Rank {error.error_index} of the bench failed: {reason}") from error
    except torch.multiprocessing.ProcessExitedException as error:
        raise EnvironmentProblem(
            f"Rank {error.error_index} of the bench ended by itself: {error}."
        ) from error


def _started_rank(rank: int, request: Request, threads: int, store: Path, tell: Tell, done: Done) -> None:
    torch.set_num_threads(threads)
    outer = Outer(rank, rank, request.ranks, str(store), hosts_store=False, one_machine=True)
    _run_rank(request, outer, tell, done)


def _run_rank(request: Request, outer: Outer, tell: Tell, done: Done) -> None:
    os.environ["RANK"] = str(outer.rank)
    if torch.cuda.is_available():
        torch.cuda.set_device(outer.local_rank)
    join_peers(outer.rank, outer.ranks, outer)
    first = outer.rank == 0
    results = bench(request, tell if first else _say_nothing)
    if first:
        done(results)
    leave_peers()


def _say_nothing(words: str) -> None:
    pass
