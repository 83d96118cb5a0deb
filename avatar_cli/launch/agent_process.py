"""The launcher's process as the parent sees it."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Iterable
from pathlib import Path

from avatar_cli.protocol.events import Event, LauncherReady, from_line, now

SESSION = "avatar_cli.worker.session"

# The parent's own search path, so that both sides run the same files wherever the command was started; -P
# keeps a folder full of videos and a stray random.py off the path.
_BOOT = """
import json, sys
sys.path[:], options = json.loads(sys.argv[1])
from avatar_cli.worker.agent import AgentOptions, main
sys.exit(main(AgentOptions(**options)))
"""

# Thread pools read these when they are loaded, long before the job is known. One thread each: a process must
# not have a pool when it forks. Ranks give torch its threads afterwards.
_THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

# torch's own log format imports its compiler for the first line: over two seconds in the middle of an error.
_LOG_FORMAT = {"TORCH_LOGS_FORMAT": "basic"}

# Under an outer torchrun its switches would apply to ours; RANK and the like are replaced by torchrun itself.
_OUTER_TORCHRUN = "TORCHELASTIC_"


_LARGEST_EVENT = 1 << 18  # bytes


class AgentProcess:
    """Starts at once and imports torch while the parent still validates; ends when the parent does."""

    def __init__(self, session: str = SESSION, start_method: str | None = None) -> None:
        """Start the launcher.

        Args:
            session: Module with the ranks' run(job, emit, stop).
            start_method: How ranks are started, fork or spawn; None lets the launcher choose.
        """
        self.spawned_at = now()
        self._early: deque[Event] = deque()  # heard while `gpus` waited
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        options = {
            "parent_fd": theirs.fileno(),
            "session": session,
            "spawned_at": self.spawned_at,
            "start_method": start_method,
        }
        search_path = [str(Path(folder).absolute()) for folder in sys.path]
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", _BOOT, json.dumps([search_path, options])],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,  # torchrun's words and those of C libraries: for --debug
            env=_environment(),
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # the terminal's Ctrl-C is for the parent, which ends the others in order
        )
        theirs.close()

    @property
    def output(self) -> int:
        """Descriptor of what the launcher and the ranks print."""
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def gpus(self) -> int:
        """The number of GPUs; waits until the launcher knows it, which has to come before the job anyway."""
        while not (self._early and isinstance(self._early[-1], LauncherReady)):
            event = self._receive()
            if event is None:
                return 0  # it has ended, and its last event says why
            self._early.append(event)
        return self._early[-1].gpus

    def receive(self) -> Event | None:
        """The next event of the launcher itself, None when it has ended; waits for it."""
        return self._early.popleft() if self._early else self._receive()

    def received_early(self) -> bool:
        """Whether `receive` returns without the socket."""
        return bool(self._early)

    def _receive(self) -> Event | None:
        try:
            message = self.socket.recv(_LARGEST_EVENT)
        except ConnectionResetError:  # it was killed before it had read the job
            message = b""
        return from_line(message.decode()) if message else None

    def hand_over(self, job: str, ranks: Iterable[int]) -> dict[int, int]:
        """Send the job and start these ranks; returns the read ends of their event pipes, by rank."""
        pipes = {rank: os.pipe() for rank in ranks}
        write_ends = [write_end for _, write_end in pipes.values()]
        try:
            socket.send_fds(self.socket, [job.encode()], write_ends)
        except ConnectionError:
            pass  # it has ended already, and its last event says why
        finally:
            for fd in write_ends:
                os.close(fd)
        return {rank: read_end for rank, (read_end, _) in pipes.items()}

    def stop(self) -> None:
        """Ask for the end: ranks close their encoder's input and leave."""
        self.socket.shutdown(socket.SHUT_WR)

    def kill(self) -> None:
        """End the launcher and its ranks at once. An encoder ends by itself when its input closes."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def _environment() -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_OUTER_TORCHRUN)}
    return inherited | _THREADS | _LOG_FORMAT
