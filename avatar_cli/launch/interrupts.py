"""Ctrl-C and its relatives, as something an event loop can wait for."""

import os
import signal
from types import FrameType, TracebackType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """While open, ending signals do not interrupt anything: each puts one byte into the pipe `fd`.

    A signal that the shell told this process to ignore (nohup) stays ignored.
    """

    def __enter__(self) -> "Interrupts":
        """Take the signals over."""
        self.fd, self._wake = os.pipe()
        os.set_blocking(self.fd, False)
        os.set_blocking(self._wake, False)
        self._before = {number: signal.getsignal(number) for number in _SIGNALS}
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        for number, handler in self._before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, _counted_by_the_pipe)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the signals back."""
        signal.set_wakeup_fd(-1)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self.fd)
        os.close(self._wake)

    def take(self) -> int:
        """Number of ending signals since the last call."""
        try:
            arrived = os.read(self.fd, 64)
        except BlockingIOError:
            return 0
        return sum(number in _SIGNALS for number in arrived)


def _counted_by_the_pipe(number: int, frame: FrameType | None) -> None:
    pass
