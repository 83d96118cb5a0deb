"""A recording that arrives through a pipe, kept in a file while it arrives, for any number of readers.

The file has no name: it is gone with the last process that has it open, however that ends. Readers in other
processes reach it as /proc/PID/fd/N for as long as the writer lives.

The writer holds a lock on everything that has not been written yet. A reader that wants a byte too early
asks for a lock on that byte, and the kernel wakes it when the byte has been written, when the end is known,
or when the writer is dead. The end is known when the file is read-only: the writer makes it so before it lets
go. The locks belong to open files, not to processes (fcntl F_OFD_SETLK): the writer's process reads, too.
"""

import errno
import fcntl
import os
import select
import stat
import struct
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from avatar_cli.media.input_path import STDIN, is_stream, spoken_name, unreadable
from avatar_cli.protocol.errors import AvatarError, EnvironmentProblem, InputError, UsageError

_PIECE = 1 << 16  # bytes; what a pipe holds
_READ_LATER = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # neither opening nor reading waits
_FLOCK = "hhqqi0q"  # struct flock of 64-bit Linux: type, whence, start, length, process
_REST = 0  # as a length: everything after the start
_LAST_BYTE = (1 << 63) - 2
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def open_spool(path: Path) -> "SpeechSpool | None":
    """Begin to keep what comes from standard input, a pipe or a device; None for a file.

    A named pipe may still be without a writer: one is waited for like what it will write.

    Raises:
        UsageError: it is a terminal.
        InputError: it cannot be opened.
        EnvironmentProblem: as SpeechSpool.
    """
    if not is_stream(path):
        return None
    name = spoken_name(path)
    try:
        source = os.dup(0) if path == STDIN else os.open(path, _READ_LATER)
    except OSError as error:
        raise unreadable(name, error) from error
    if os.isatty(source):
        os.close(source)
        raise UsageError(f"SPEECH is {path}, but {name} is a terminal: pipe a recording in, or name a file.")
    return SpeechSpool(source, name)


class SpeechSpool:
    """Writes the file, in a thread of its own, as fast as the recording comes.

    Args:
        source: Descriptor to read from; closed at the end.
        name: The source in sentences for the user.

    Attributes:
        path: Where readers find the file.
        fault: Why it will stay incomplete, once that is known.

    Raises:
        EnvironmentProblem: there is no room for temporary files, or the system lacks /proc or these locks.
    """

    def __init__(self, source: int, name: str) -> None:
        self._source = source
        self._name = name
        self.fault: AvatarError | None = None
        try:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - `close` closes it
        except OSError as error:
            os.close(source)
            raise self._no_room(error) from error
        self.path = Path(f"/proc/{os.getpid()}/fd/{self._file.fileno()}")
        if not self.path.exists() or not hasattr(fcntl, "F_OFD_SETLK"):
            os.close(source)
            self._file.close()
            raise EnvironmentProblem(
                f"A speech from {name} needs /proc and file locks of Linux: save it to a file first."
            )
        _lock(self._file.fileno(), fcntl.F_WRLCK, 0, _REST)
        self._woken, self._wake = os.pipe()
        self._thread = threading.Thread(target=self._run, name="speech-spool", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop reading and let the file go; readers that wait are told that it broke off."""
        os.close(self._wake)
        self._thread.join()
        os.close(self._woken)
        self._file.close()

    def _run(self) -> None:
        try:
            self._copy()
        except AvatarError as fault:
            self.fault = fault
        finally:
            _lock(self._file.fileno(), fcntl.F_UNLCK, 0, _REST)
            os.close(self._source)

    def _copy(self) -> None:
        file, written = self._file.fileno(), 0
        while (piece := self._read()) is not None:
            if not piece:
                os.fchmod(file, stat.S_IRUSR)
                return
            rest = memoryview(piece)
            try:
                while rest:
                    rest = rest[os.write(file, rest) :]
            except OSError as error:
                raise self._no_room(error) from error
            _lock(file, fcntl.F_UNLCK, written, len(piece))
            written += len(piece)

    def _read(self) -> bytes | None:
        """What has come, nothing at the end; None when it is to stop."""
        try:
            while self._woken not in select.select([self._source, self._woken], [], [])[0]:
                with suppress(BlockingIOError):  # another reader of the same pipe was quicker
                    return os.read(self._source, _PIECE)
            return None
        except OSError as error:
            raise InputError(
                f"{self._name} cannot be read ({error.strerror}): give a recording of speech."
            ) from error

    def _no_room(self, error: OSError) -> EnvironmentProblem:
        what = "does not fit into" if error.errno in _FULL else "cannot be kept in"
        return EnvironmentProblem(
            f"The speech from {self._name} {what} the folder for temporary files ({error.strerror}): "
            "make room, or set TMPDIR to another folder."
        )


class SpoolReader:
    """Reads the file from any process while it grows.

    Args:
        path: The writer's.
        name: The recording in sentences for the user.

    Raises:
        EnvironmentProblem: the writer is dead; later calls raise it when the writer dies or gives up.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._name = name
        try:
            self.fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise self._broken_off() from error

    def read(self, offset: int, length: int) -> bytes:
        """What is there from `offset` on, at least a byte, waiting for it; nothing past the end."""
        while not (data := os.pread(self.fd, length, offset)):
            if not self._await(offset):
                break
        return data

    def read_fully(self, offset: int, length: int) -> bytes:
        """`length` bytes, waiting for them; fewer only at the end."""
        data = b""
        while len(data) < length and (more := self.read(offset + len(data), length - len(data))):
            data += more
        return data

    def wait_for_end(self) -> None:
        """Return when everything has arrived."""
        self._await(_LAST_BYTE)

    def close(self) -> None:
        """Let the file go."""
        os.close(self.fd)

    def _await(self, offset: int) -> bool:
        """Wait until the byte at `offset` exists; False where the recording has ended before it."""
        _lock(self.fd, fcntl.F_RDLCK, offset, 1, wait=True)
        _lock(self.fd, fcntl.F_UNLCK, offset, 1)
        status = os.fstat(self.fd)
        if status.st_size > offset:
            return True
        if status.st_mode & stat.S_IWUSR:
            raise self._broken_off()
        return False

    def _broken_off(self) -> EnvironmentProblem:
        return EnvironmentProblem(
            f"The speech from {self._name} broke off, because the process that reads it is gone: start again."
        )


def _lock(fd: int, kind: int, start: int, length: int, *, wait: bool = False) -> None:
    command = fcntl.F_OFD_SETLKW if wait else fcntl.F_OFD_SETLK
    fcntl.fcntl(fd, command, struct.pack(_FLOCK, kind, os.SEEK_SET, start, length, 0))
