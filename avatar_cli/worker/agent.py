"""The launcher: torchrun's agent in a process of its own, between the parent and the ranks.

It starts before anybody knows whether the job is valid, imports what the ranks need, waits for the job,
starts the ranks and watches them. On a CPU the ranks are forked and find everything imported; CUDA does not
survive a fork, so there they are spawned.
"""

import gc
import importlib
import os
import select
import signal
import socket
import traceback
import uuid
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from avatar_cli.protocol.events import Event, Failed, Interval, LauncherReady, now, to_line
from avatar_cli.protocol.exit_codes import ExitCode
from avatar_cli.protocol.job import RenderJob
from avatar_cli.protocol.outer import Outer
from avatar_cli.worker.entry import RankLinks, RankTask, run_rank
from avatar_cli.worker.joined_rank import run_joined_rank
from avatar_cli.worker.preload import MODULES

LAUNCHER = -1  # the launcher's place where events name a rank
MONITOR_INTERVAL = 0.05  # seconds between two looks at the ranks
SHUTDOWN_TIME = 3  # seconds that ranks have to end after SIGTERM; more than a rank's own grace
MAX_RANKS = 64
MAX_MESSAGE = 1 << 17  # bytes; below the kernel's default limit for one message of a local socket
_HINTS: dict[int, str] = {
    signal.SIGKILL: "; this is how the system ends processes when memory runs out",
    signal.SIGABRT: "; NCCL ends a process like this when its peers do not answer",
}


@dataclass(frozen=True)
class AgentOptions:
    """What the parent knows when it starts the launcher."""

    parent_fd: int  # local socket that keeps message boundaries
    session: str  # module with run(job, emit, stop)
    spawned_at: float  # when the parent started this process, on the events' clock
    start_method: str | None = None  # fork or spawn; None chooses by device


class ParentGoneError(Exception):
    """The parent closed its end: it was interrupted, or it is dead."""


class Parent:
    """The link to the parent.

    In comes one message with the job and, attached, the write end of an event pipe for every rank; end of
    file means that the parent wants no more, or is gone. Out goes one event a message.
    """

    def __init__(self, fd: int) -> None:
        self._socket = socket.socket(fileno=fd)
        os.register_at_fork(after_in_child=self._socket.close)

    def emit(self, event: Event) -> None:
        """Send one event; a parent that is gone is noticed elsewhere."""
        try:
            self._socket.send(to_line(event).encode())
        except ConnectionError:
            return

    def receive_job(self) -> tuple[str, list[int]]:
        """Wait for the job as JSON and the ranks' event pipes. Raises ParentGoneError."""
        try:
            flags = socket.MSG_CMSG_CLOEXEC
            message, fds, _, _ = socket.recv_fds(self._socket, MAX_MESSAGE, MAX_RANKS, flags)
        except ConnectionResetError:  # the parent was killed before it had read what we sent
            message = b""
        if not message:
            raise ParentGoneError
        return message.decode(), fds

    def check(self, patience: float = 0.0) -> None:
        """Raise ParentGoneError at the end of file, which is waited for; nothing else comes after the job."""
        if select.select([self._socket], [], [], patience)[0]:
            raise ParentGoneError


class RankPipes:
    """The launcher's ends of the pipes of the ranks that it starts."""

    def __init__(self, event_fds: list[int], first_local_rank: int) -> None:
        lifelines = [Pipe(duplex=False) for _ in event_fds]
        self.links = {
            local_rank: RankLinks(Connection(fd, readable=False), read_end)
            for local_rank, (fd, (read_end, _)) in enumerate(
                zip(event_fds, lifelines, strict=True), first_local_rank
            )
        }
        self._keep_alive = [write_end for _, write_end in lifelines]
        os.register_at_fork(after_in_child=self._release)

    def hand_over(self) -> None:
        """Close what only the ranks may hold, so that a pipe ends when its rank does."""
        for links in self.links.values():
            links.events.close()
            links.lifeline.close()

    def _release(self) -> None:
        """In a forked rank: nobody but the launcher may keep the ranks alive."""
        for write_end in self._keep_alive:
            write_end.close()


def main(options: AgentOptions) -> int:
    """Serve one job; returns the status of this process."""
    begin = now()
    parent = Parent(options.parent_fd)
    parent.emit(Interval("spawn", options.spawned_at, begin, LAUNCHER, "launcher"))
    try:
        for module in (*MODULES, "torch.distributed.launcher.api", options.session):
            importlib.import_module(module)
    except ImportError as error:
        parent.emit(_failed(ExitCode.ENVIRONMENT, f"Importing failed ({error}): install avatar again."))
        return ExitCode.ENVIRONMENT
    parent.emit(Interval("imports", begin, now(), LAUNCHER, "launcher"))
    gpus = _count_gpus()
    parent.emit(LauncherReady(gpus, now()))
    try:
        job, event_fds = parent.receive_job()
        _launch(options, job, event_fds, gpus, parent)
    except ParentGoneError:
        return ExitCode.INTERRUPTED
    return ExitCode.DONE


def _launch(options: AgentOptions, job: str, event_fds: list[int], gpus: int, parent: Parent) -> None:
    """Start the ranks and watch them to their end. Raises ParentGoneError."""
    compute = RenderJob.from_json(job).compute
    outer = compute.outer
    local_rank = outer.local_rank if outer else 0
    own_gpu = outer is not None and gpus == 1  # an outer launcher may show each rank nothing but its own
    if gpus and local_rank + len(event_fds) > gpus and not own_gpu:
        message = (
            f"{compute.ranks} processes need a GPU each, and torch sees {gpus}: choose a smaller --nproc."
        )
        parent.emit(_failed(ExitCode.USAGE, message))
        return
    pipes = RankPipes(event_fds, local_rank)
    task = RankTask(job, options.session, pipes.links)
    start_method = options.start_method or ("spawn" if gpus else "fork")
    if outer is None or outer.one_machine:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # do not ask the resolver who we are
    gc.freeze()  # a collection in a rank must not touch, and so copy, what it shares with this process
    if outer:
        _join(task, outer, start_method, pipes, parent)
    else:
        _start_all(task, start_method, pipes, parent)


def _join(task: RankTask, outer: Outer, start_method: str, pipes: RankPipes, parent: Parent) -> None:
    """Run the one rank that is ours, among those of an outer launcher."""

    def heartbeat() -> None:
        pipes.hand_over()
        parent.check(MONITOR_INTERVAL)

    pid, status = run_joined_rank(task, outer, start_method, heartbeat, SHUTDOWN_TIME)
    if status:
        parent.emit(_failed(ExitCode.FAILED, _death(outer.rank, pid, status), outer.rank))


def _start_all(task: RankTask, start_method: str, pipes: RankPipes, parent: Parent) -> None:
    """Run all ranks under torchrun's agent."""
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.elastic.rendezvous import rendezvous_handler_registry
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    from avatar_cli.worker import rendezvous

    def heartbeat() -> None:
        pipes.hand_over()
        parent.check()

    rendezvous_handler_registry.register(rendezvous.BACKEND, rendezvous.creator(heartbeat))
    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=len(pipes.links),
        run_id=f"avatar-{uuid.uuid4().hex}",
        role="avatar",
        rdzv_backend=rendezvous.BACKEND,
        max_restarts=0,
        monitor_interval=MONITOR_INTERVAL,
        start_method=start_method,
        local_addr=rendezvous.HOST,
        logs_specs=DefaultLogsSpecs(log_dir=os.devnull),
        shutdown_timeout=SHUTDOWN_TIME,
    )
    try:
        elastic_launch(config, run_rank)(task)
    except ChildFailedError as error:
        for rank, failure in error.failures.items():
            parent.emit(_failed(ExitCode.FAILED, _death(rank, failure.pid, failure.exitcode), rank))
    except SignalException as error:
        name = signal.Signals(error.sigval).name
        parent.emit(_failed(ExitCode.INTERRUPTED, f"The launcher was told to end by {name}."))


def _count_gpus() -> int:
    """GPUs that torch can use, without starting CUDA in this process."""
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
    import torch

    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def _death(rank: int, pid: int, status: int) -> str:
    """How a rank ended, from the status of its process."""
    who = f"Rank {rank} (process {pid})"
    if status >= 0:
        return f"{who} ended with status {status} before its work was done."
    name = signal.Signals(-status).name
    return f"{who} was killed by {name}{_HINTS.get(-status, '')}."


def _failed(code: ExitCode, message: str, rank: int = LAUNCHER) -> Failed:
    return Failed(int(code), message, rank, stage="", chunk="", time=now(), traceback=traceback.format_exc())
