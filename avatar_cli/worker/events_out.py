"""Events from this process to the parent: JSON lines over a pipe of its own."""

import os
import threading

from avatar_cli.protocol.events import Event, to_line


class EventWriter:
    """An EventSink that writes to a pipe.

    A parent that reads slowly slows the job down instead of growing memory. A parent that is gone makes the
    writer silent: ending the job is the lifeline's business, and it must not fail in the middle of a frame.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lock = threading.Lock()
        self._open = True

    def __call__(self, event: Event) -> None:
        """Write one line; lines of several threads never mix."""
        line = memoryview((to_line(event) + "\n").encode())
        with self._lock:
            try:
                while self._open and line:
                    line = line[os.write(self._fd, line) :]
            except BrokenPipeError:
                self._close()

    def close(self) -> None:
        """Tell the parent that nothing more comes; later events are dropped."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._open:
            self._open = False
            os.close(self._fd)
