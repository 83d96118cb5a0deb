"""A rank's lifeline: when the launcher goes, or a signal asks for it, the rank ends."""

import os
import select
import signal
import threading
import time
from types import FrameType

from avatar_cli.protocol.exit_codes import ExitCode

GRACE = 2.0  # seconds a session has to close its encoder's input after `stop` was set

_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


class Lifeline:
    """Watches the read end of a pipe that the launcher holds open for as long as it lives.

    When the pipe closes or an ending signal arrives, `stop` is set; a session that has not returned within
    GRACE seconds is cut off. The process then ends through `os._exit`, because a thread that hangs in a
    collective can be neither joined nor interrupted.
    """

    def __init__(self, fd: int, stop: threading.Event) -> None:
        """Start watching. Must be called on the main thread, which is where Python handles signals."""
        self._fd = fd
        self._stop = stop
        self._session_over = threading.Event()
        self._woken, wake = os.pipe()
        os.set_blocking(wake, False)
        # The wake-up byte is written by the C handler at once, even while the main thread is inside a long
        # native call; the Python handler only replaces the default action.
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        for number in _ENDING_SIGNALS:
            signal.signal(number, _leave_it_to_the_watcher)
        threading.Thread(target=self._watch, name="lifeline", daemon=True).start()

    def session_is_over(self) -> None:
        """The session has returned: nothing has to be cut off any more."""
        self._session_over.set()

    def wait_for_end(self, timeout: float) -> None:
        """Block until the launcher goes or a signal arrives, for at most `timeout` seconds."""
        self._stop.wait(timeout)

    def _watch(self) -> None:
        select.select([self._fd, self._woken], [], [])
        self._stop.set()
        if self._session_over.wait(GRACE):
            time.sleep(GRACE)  # for the teardown, which may hang where a peer or the launcher is gone
        os._exit(ExitCode.INTERRUPTED)


def _leave_it_to_the_watcher(number: int, frame: FrameType | None) -> None:
    pass
