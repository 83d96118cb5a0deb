"""A thread that feeds one pipe of a child from a short queue."""

import contextlib
import fcntl
import os
import threading
from collections import deque

_PIPE_BYTES = 1 << 20  # the most that Linux grants without privileges


class PipeWriter:
    """Owns the write end of a pipe; closes it after the last piece, or as soon as nobody reads any more.

    Args:
        fd: Write end. Nobody else may hold a copy, or the reader never sees the end.
        name: Name of the thread.
        capacity: Pieces that wait at most; `put` blocks beyond that.
    """

    def __init__(self, fd: int, name: str, capacity: int) -> None:
        self._fd = fd
        self._capacity = capacity
        self._pieces: deque[memoryview] = deque()
        self._ended = False
        self._broken = False
        self._changed = threading.Condition()
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            with contextlib.suppress(OSError):  # a user over the system's limit keeps the default size
                fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def put(self, piece: memoryview) -> bool:
        """Queue bytes, which must stay unchanged. False when the reader is gone or `end` was called."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._pieces) < self._capacity or self._broken or self._ended)
            if self._broken or self._ended:
                return False
            self._pieces.append(piece)
            self._changed.notify_all()
            return True

    def end(self) -> None:
        """Close the pipe after what is queued; returns at once."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    @property
    def broken(self) -> bool:
        """Whether the reader closed its end before ours."""
        return self._broken

    def join(self) -> None:
        """Wait until the pipe is closed."""
        self._thread.join()

    def _run(self) -> None:
        try:
            while (piece := self._next()) is not None:
                while piece:
                    piece = piece[os.write(self._fd, piece) :]
        except OSError:  # the reader is gone; why, its owner learns from the child's exit
            with self._changed:
                self._broken = True
                self._pieces.clear()
                self._changed.notify_all()
        finally:
            os.close(self._fd)

    def _next(self) -> memoryview | None:
        with self._changed:
            self._changed.wait_for(lambda: self._pieces or self._ended)
            if not self._pieces:
                return None
            piece = self._pieces.popleft()
            self._changed.notify_all()
            return piece
