"""The launcher: torchrun's agent in a process of its own, between the parent and the ranks.

It starts before anybody knows whether the job is valid, imports what the ranks need, waits for the job,
starts the ranks and watches them. On a CPU the ranks are forked and find everything imported; CUDA does not
survive a fork, so there they are spawned.
"""

import gc
import importlib
import os
import select
import shutil
import signal
import socket
import traceback
import uuid
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from avatar_cli.protocol.events import Event, Failed, Interval, now, to_line
from avatar_cli.protocol.exit_codes import ExitCode
from avatar_cli.worker.entry import RankLinks, RankTask, run_rank
from avatar_cli.worker.preload import MODULES

LAUNCHER = -1  # the launcher's place where events name a rank
MONITOR_INTERVAL = 0.05  # seconds between two looks at the ranks
SHUTDOWN_TIME = 4  # seconds that ranks have to end after SIGTERM; more than a rank's own grace
MAX_RANKS = 64
MAX_MESSAGE = 1 << 17  # bytes; below the kernel's default limit for one message of a local socket


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

    def check(self) -> None:
        """Raise ParentGoneError at the end of file; the parent sends nothing after the job."""
        if select.select([self._socket], [], [], 0)[0]:
            raise ParentGoneError


class RankPipes:
    """The launcher's ends of the pipes of all ranks of this machine."""

    def __init__(self, event_fds: list[int]) -> None:
        lifelines = [Pipe(duplex=False) for _ in event_fds]
        self.links = tuple(
            RankLinks(Connection(fd, readable=False), read_end)
            for fd, (read_end, _) in zip(event_fds, lifelines, strict=True)
        )
        self._keep_alive = [write_end for _, write_end in lifelines]
        os.register_at_fork(after_in_child=self._release)

    def hand_over(self) -> None:
        """Close what only the ranks may hold, so that a pipe ends when its rank does."""
        for links in self.links:
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
    try:
        job, event_fds = parent.receive_job()
        _launch(options, job, RankPipes(event_fds), parent)
    except ParentGoneError:
        return ExitCode.INTERRUPTED
    return ExitCode.DONE


def _launch(options: AgentOptions, job: str, pipes: RankPipes, parent: Parent) -> None:
    """Start the ranks and watch them to their end. Raises ParentGoneError."""
    import torch
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.elastic.rendezvous import rendezvous_handler_registry
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch
    from torch.numa.binding import AffinityMode, NumaOptions

    from avatar_cli.worker import rendezvous

    def heartbeat() -> None:
        pipes.hand_over()
        parent.check()

    rendezvous_handler_registry.register(rendezvous.BACKEND, rendezvous.creator(heartbeat))
    os.environ.setdefault(
        "GLOO_SOCKET_IFNAME", "lo"
    )  # all ranks are here; do not ask the resolver who we are
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # look for GPUs without starting CUDA here
    on_gpu = torch.cuda.is_available()
    can_bind = on_gpu and shutil.which("numactl") is not None
    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=len(pipes.links),
        run_id=f"avatar-{uuid.uuid4().hex}",
        role="avatar",
        rdzv_backend=rendezvous.BACKEND,
        max_restarts=0,
        monitor_interval=MONITOR_INTERVAL,
        start_method=options.start_method or ("spawn" if on_gpu else "fork"),
        local_addr=rendezvous.HOST,
        logs_specs=DefaultLogsSpecs(log_dir=os.devnull),
        numa_options=NumaOptions(AffinityMode.NODE) if can_bind else None,
        shutdown_timeout=SHUTDOWN_TIME,
    )
    gc.freeze()  # a collection in a rank must not touch, and so copy, what it shares with this process
    task = RankTask(job, options.session, pipes.links, bind_to_gpu=on_gpu and not can_bind)
    try:
        elastic_launch(config, run_rank)(task)
    except ChildFailedError as error:
        for rank, failure in error.failures.items():
            parent.emit(_failed(ExitCode.FAILED, _death(rank, failure.pid, failure.exitcode), rank))
    except SignalException as error:
        name = signal.Signals(error.sigval).name
        parent.emit(_failed(ExitCode.INTERRUPTED, f"The launcher was told to end by {name}."))


def _death(rank: int, pid: int, status: int) -> str:
    """How a rank ended, from the status of its process."""
    who = f"Rank {rank} (process {pid})"
    if status >= 0:
        return f"{who} ended with status {status} before its work was done."
    name = signal.Signals(-status).name
    memory = (
        "; this is how the system ends processes when memory runs out" if -status == signal.SIGKILL else ""
    )
    return f"{who} was killed by {name}{memory}."


def _failed(code: ExitCode, message: str, rank: int = LAUNCHER) -> Failed:
    return Failed(int(code), message, rank, stage="", chunk="", time=now(), traceback=traceback.format_exc())
