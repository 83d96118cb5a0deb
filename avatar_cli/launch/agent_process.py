"""The launcher's process as the parent sees it."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from avatar_cli.protocol.events import now

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


class AgentProcess:
    """Starts at once and imports torch while the parent still validates; ends when the parent does."""

    def __init__(self, session: str = SESSION, start_method: str | None = None) -> None:
        """Start the launcher.

        Args:
            session: Module with the ranks' run(job, emit, stop).
            start_method: How ranks are started, fork or spawn; None lets the launcher choose.
        """
        self.spawned_at = now()
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

    def hand_over(self, job: str, ranks: int) -> list[int]:
        """Send the job and start the ranks; returns the read ends of the ranks' event pipes."""
        pipes = [os.pipe() for _ in range(ranks)]
        write_ends = [write_end for _, write_end in pipes]
        try:
            socket.send_fds(self.socket, [job.encode()], write_ends)
        except ConnectionError:
            pass  # it has ended already, and its last event says why
        finally:
            for fd in write_ends:
                os.close(fd)
        return [read_end for read_end, _ in pipes]

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
