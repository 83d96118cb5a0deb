"""The growing file belongs to one render at a time."""

import errno
import fcntl
import os
from pathlib import Path

from avatar_cli.protocol.errors import EnvironmentProblem


class PartialFile:
    """A fresh, empty file that is locked until `release`, or until this process ends.

    A child that inherits `fd` holds the lock until it has ended too.

    A leftover of an earlier render goes; it must not be taken for the first bytes of this one.

    Raises:
        EnvironmentProblem: Another render is writing it, or its folder does not allow it.
    """

    def __init__(self, path: Path) -> None:
        self._fd = -1
        try:
            self._remove_leftover(path)
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
            lock(self._fd)
        except (BlockingIOError, FileExistsError) as error:
            self.release()
            raise EnvironmentProblem(
                f"Another render is writing {path}: wait for it, or give the output another name."
            ) from error
        except OSError as error:
            self.release()
            raise EnvironmentProblem(
                f"{path} cannot be written ({error.strerror}): choose another folder."
            ) from error

    @property
    def fd(self) -> int:
        """Descriptor that holds the lock; -1 once it was released."""
        return self._fd

    def release(self) -> None:
        """Let others have it; harmless when it was released."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    @staticmethod
    def _remove_leftover(path: Path) -> None:
        if path.is_file() and not path.is_symlink():
            leftover = os.open(path, os.O_RDONLY)
            try:
                lock(leftover)
            finally:
                os.close(leftover)
        path.unlink(missing_ok=True)


def lock(fd: int) -> None:
    """Raises BlockingIOError where another process has the lock; does nothing on disks without locks."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.ENOTSUP, errno.ENOLCK, errno.ENOSYS):
            raise
