"""The ffmpeg program: where it is, and child processes that are ours from start to end."""

import functools
import os
import re
import shutil
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import ffmpeg
import imageio_ffmpeg

from avatar_cli.protocol.errors import EnvironmentProblem

_KEPT_LINES = 1000  # a recording may list hundreds of chapters before its streams
_CHECK_SECONDS = 20.0
_CONTEXT = re.compile(r"^(\[[^\]]*@ 0x[0-9a-f]+\] )+")
_LEVEL = re.compile(r"^\[(\w+)\] ")
_BAD_LEVELS = ("error", "fatal", "panic")
_ENCODERS = ("libx264", "aac")
_FRAGMENTS = "hybrid_fragmented"


def ffmpeg_path() -> Path:
    """The ffmpeg to run: AVATAR_FFMPEG where it is set, else the one of the imageio-ffmpeg package.

    Raises:
        EnvironmentProblem: it is missing, does not run, or lacks an encoder or muxer option that is needed.
    """
    return _checked(os.environ.get("AVATAR_FFMPEG", ""))


@functools.cache
def _checked(override: str) -> Path:
    if override:
        found = shutil.which(override)
        if found is None:
            raise EnvironmentProblem(
                f"AVATAR_FFMPEG names {override}, which is not a program that can be run: "
                "correct it, or unset it to use the ffmpeg that comes with avatar."
            )
    else:
        try:
            found = imageio_ffmpeg.get_ffmpeg_exe()
        except RuntimeError as error:
            raise EnvironmentProblem(
                "There is no ffmpeg in the imageio-ffmpeg package: "
                "`pip install --force-reinstall imageio-ffmpeg`, or set AVATAR_FFMPEG to another ffmpeg."
            ) from error
    encoders = _ask(found, "-encoders")
    for encoder in _ENCODERS:
        if not re.search(rf"^ [VA]\S+ {encoder} ", encoders, re.MULTILINE):
            raise EnvironmentProblem(
                f"The ffmpeg at {found} has no {encoder} encoder: "
                "set AVATAR_FFMPEG to one that has it, or unset it to use the one that comes with avatar."
            )
    if _FRAGMENTS not in _ask(found, "-h", "muxer=mp4"):
        raise EnvironmentProblem(
            f"The ffmpeg at {found} is too old to write an MP4 that plays while it grows: "
            "set AVATAR_FFMPEG to version 7.1 or newer."
        )
    return Path(found)


def _ask(program: str, *question: str) -> str:
    try:
        answer = subprocess.run(
            [program, "-hide_banner", *question],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_CHECK_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise EnvironmentProblem(
            f"The ffmpeg at {program} does not run ({error}): set AVATAR_FFMPEG to one that does."
        ) from error
    return answer.stdout


def start_ffmpeg(stream: ffmpeg.Stream, pass_fds: Sequence[int] = ()) -> "ChildProcess":
    """Runs what ffmpeg-python describes; its standard output is to be read, its lines tell of the streams."""
    talk = ("-hide_banner", "-nostats", "-nostdin", "-loglevel", "level+info")
    argv = ffmpeg.compile(stream.global_args(*talk), cmd=str(ffmpeg_path()), overwrite_output=True)
    return ChildProcess(argv, stdout=subprocess.PIPE, pass_fds=pass_fds)


class ChildProcess:
    """A program in a session of its own, so that Ctrl-C reaches us and not it, with its stderr always read.

    Start ffmpeg with `-loglevel level+...`: the level in front of each line tells errors from talk.

    Args:
        argv: Program and arguments.
        stdout: subprocess.DEVNULL or subprocess.PIPE.
        pass_fds: The only descriptors that the child inherits beside its standard streams.
    """

    def __init__(
        self, argv: Sequence[str], *, stdout: int = subprocess.DEVNULL, pass_fds: Sequence[int] = ()
    ) -> None:
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            pass_fds=pass_fds,
            start_new_session=True,
        )
        self._first_error = ""
        self._tail: deque[str] = deque(maxlen=_KEPT_LINES)
        self._heard = threading.Condition()
        self._silent = False
        self._reader = threading.Thread(target=self._drain, name="ffmpeg-stderr", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def stdout(self) -> IO[bytes]:
        """The child's standard output; only with stdout=subprocess.PIPE."""
        assert self._process.stdout is not None
        return self._process.stdout

    def read(self) -> bytes:
        """All that it writes to its standard output."""
        with self.stdout as stream:
            return stream.read()

    @property
    def lines(self) -> list[str]:
        """The last lines that it wrote to stderr."""
        with self._heard:
            return list(self._tail)

    def find(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The first match among the last lines, waiting for it while the child may still say it."""
        with self._heard:
            while True:
                for line in self._tail:
                    if match := pattern.search(line):
                        return match
                if self._silent:
                    return None
                self._heard.wait()

    def wait(self, timeout: float | None = None) -> int:
        """Exit status; negative for a signal. Raises subprocess.TimeoutExpired when it is still running."""
        status = self._process.wait(timeout)
        self._reader.join()
        return status

    def kill(self) -> None:
        """SIGKILL, then collect it. Does nothing when it has ended."""
        self._process.kill()
        self.wait()

    def complaint(self) -> str | None:
        """What went wrong, its first error in its own words; None where nothing did. Waits for its end."""
        status = self.wait()
        if status < 0:
            return f"it was killed by {signal.Signals(-status).name}"
        if self._first_error:
            return self._first_error
        return f"it ended with status {status}" if status else None

    def _drain(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as stream:
            for raw in stream:
                with self._heard:
                    self._note(raw.decode(errors="replace").rstrip())
                    self._heard.notify_all()
        with self._heard:
            self._silent = True
            self._heard.notify_all()

    def _note(self, line: str) -> None:
        self._tail.append(line)
        words = _CONTEXT.sub("", line)
        level = _LEVEL.match(words)
        if level and level[1] in _BAD_LEVELS and not self._first_error:
            self._first_error = words[level.end() :].rstrip(".")
