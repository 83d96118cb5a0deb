"""Standard streams that are closed, full or no longer read: telling must not fail what is told about."""

import io
import os
import sys


class TalkStream(io.TextIOWrapper):
    """A stderr that goes silent where it cannot be written any more: its reader, disk or terminal is gone."""

    def write(self, text: str) -> int:
        """Write, or drop."""
        try:
            return super().write(text)
        except OSError:
            self._go_silent()
            return len(text)

    def flush(self) -> None:
        """Flush, or drop."""
        try:
            super().flush()
        except OSError:
            self._go_silent()

    def _go_silent(self) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


def settle_streams() -> None:
    """Make all three standard streams usable; must come before anything else is opened.

    A descriptor that the caller closed would be given to the next file or pipe, which then gets what is said.
    """
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), write_through=True)
    encoding = "utf-8" if sys.stderr is None else sys.stderr.encoding
    talk = io.BufferedWriter(io.FileIO(2, "w", closefd=False))
    sys.stderr = TalkStream(talk, encoding=encoding, errors="backslashreplace", line_buffering=True)
