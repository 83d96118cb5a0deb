"""Entry point of a rank: sets up the process, runs the session, tells the parent how it ended."""

import importlib
import os
import threading
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection

from avatar_cli.protocol.errors import AvatarError
from avatar_cli.protocol.events import EventSink, Failed, Interval, RankStarted, Warned, now
from avatar_cli.protocol.exit_codes import ExitCode
from avatar_cli.protocol.job import RenderJob
from avatar_cli.runtime.recorder import interval
from avatar_cli.worker.affinity import bind_to_gpu
from avatar_cli.worker.events_out import EventWriter
from avatar_cli.worker.lifeline import Lifeline
from avatar_cli.worker.peers import is_about_peers, join_peers, leave_peers

BLAME_TIME = 1.0  # seconds a failed rank of several waits to be ended by the launcher


@dataclass(frozen=True)
class RankLinks:
    """The pipes of one rank. Connections, because those survive being sent to a spawned process."""

    events: Connection
    lifeline: Connection


@dataclass(frozen=True)
class RankTask:
    """What the launcher hands to every rank.

    torchrun expands `$` in arguments that are strings, so job and session travel inside an object.
    """

    job: str  # RenderJob as JSON
    session: str  # module with run(job, emit, stop)
    links: dict[int, RankLinks]  # of all ranks that the launcher starts, by local rank


def run_rank(task: RankTask) -> None:
    """Run one rank to its end; torchrun calls this in every rank.

    Returns when the session is done; ends the process with the error's exit code when it failed. The parent
    goes by the events, torchrun by the status.
    """
    rank, local_rank = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    for other, links in task.links.items():
        if other != local_rank:
            links.events.close()
            links.lifeline.close()
    own = task.links[local_rank]
    emit = EventWriter(os.dup(own.events.fileno()))
    own.events.close()
    stop = threading.Event()
    lifeline = Lifeline(own.lifeline.fileno(), stop)

    code = _run_session(task, rank, local_rank, emit, stop)
    lifeline.session_is_over()
    if code is ExitCode.DONE:
        emit.close()
        return
    if len(task.links) > 1:
        # A peer that was killed makes this rank fail too. While this one stays, the launcher finds the dead
        # peer first and can tell which signal ended it.
        lifeline.wait_for_end(BLAME_TIME)
    emit.close()
    os._exit(code)


def _run_session(
    task: RankTask, rank: int, local_rank: int, emit: EventSink, stop: threading.Event
) -> ExitCode:
    try:
        job = RenderJob.from_json(task.job)
        begin = now()
        session = importlib.import_module(task.session)
        environment = _set_up(job, rank, local_rank, emit)
        emit(RankStarted(rank, os.getpid(), now(), environment))
        emit(Interval("imports", begin, now(), rank, "main"))
        with interval(emit, "join", rank=rank):
            join_peers(rank, int(os.environ["WORLD_SIZE"]), job.compute.outer)
        session.run(job, emit, stop)
        leave_peers()
    except BaseException as error:  # the last resort of a process: whatever it is, the parent must hear of it
        emit(_failure(error, rank, stopped=stop.is_set()))
        return error.code if isinstance(error, AvatarError) else ExitCode.FAILED
    return ExitCode.DONE


def _set_up(job: RenderJob, rank: int, local_rank: int, emit: EventSink) -> dict[str, object]:
    """Processors and threads of this process; returns what the report says about them."""
    import torch

    torch.set_num_threads(job.compute.threads)
    torch.set_num_interop_threads(1)
    device, node = "cpu", None
    if torch.cuda.is_available():
        torch.cuda.set_device(local_rank % torch.cuda.device_count())
        properties = torch.cuda.get_device_properties(torch.cuda.current_device())
        device = properties.name
        binding = bind_to_gpu(_pci_address(properties))
        node = binding.node
        if node is not None and not binding.beside_gpu:
            emit(
                Warned(
                    f"Rank {rank} may use none of the processors beside its GPU (NUMA node {node}), which "
                    "slows copies down: allow some, for example with taskset."
                )
            )
    return {
        "device": device,
        "threads": torch.get_num_threads(),
        "affinity": sorted(os.sched_getaffinity(0)),
        "numa_node": node,
    }


def _pci_address(properties: object) -> str:
    domain, bus, device = (getattr(properties, f"pci_{part}_id") for part in ("domain", "bus", "device"))
    return f"{domain:04x}:{bus:02x}:{device:02x}.0"


def _failure(error: BaseException, rank: int, stopped: bool) -> Failed:
    """The event for an error; an error may name its stage and chunk in attributes of these names.

    What goes wrong after the job was told to stop follows from stopping, and is reported as the interruption.
    """
    about_peers = not stopped and is_about_peers(error)
    if stopped:
        code, message = ExitCode.INTERRUPTED, f"Rank {rank} was told to stop."
    elif about_peers:
        code, message = ExitCode.FAILED, f"Rank {rank} got no answer from the other ranks."
    elif isinstance(error, AvatarError):
        code, message = error.code, error.message
    else:
        code, message = ExitCode.FAILED, f"Unexpected {type(error).__name__} on rank {rank}: {error}"
    return Failed(
        code=int(code),
        message=message,
        rank=rank,
        stage=getattr(error, "stage", ""),
        chunk=getattr(error, "chunk", ""),
        time=now(),
        traceback="".join(traceback.format_exception(error)),
        about_peers=about_peers,
    )
