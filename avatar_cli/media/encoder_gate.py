"""Lets frames through to ffmpeg only as fast as its encoder takes them."""

import os
import threading

_READ_BYTES = 4096
# An ffmpeg that something else told to end does so at its next read of a frame, while its encoder takes none.
_LONGEST_WAIT = 1.0  # seconds


class EncoderGate:
    """Bounds the frames that are on their way to the encoder, wherever they wait.

    ffmpeg's own queues hold a dozen frames between its input and its encoder, 2.8 MB each at 1280x720, and
    cannot be made shorter. Whether they ever fill depends on which process gets the processor when, so
    without a bound a long render would sooner or later need more memory than a short one.

    Args:
        fd: Read end of a pipe on which ffmpeg writes a line for every frame that has reached its encoder
            (`-stats_enc_pre`).
        most: Frames that are let through before the first of them has reached the encoder.
    """

    def __init__(self, fd: int, most: int) -> None:
        self._fd = fd
        self._room = most
        self._open = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="encoder-gate", daemon=True)
        self._thread.start()

    def enter(self) -> None:
        """Wait for room for one frame, a second at most.

        Does not wait any more once ffmpeg has ended or `open` was called.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._room > 0 or self._open, _LONGEST_WAIT)
            self._room -= 1

    def open(self) -> None:
        """Hold back nothing from now on."""
        with self._changed:
            self._open = True
            self._changed.notify_all()

    def join(self) -> None:
        """Wait until ffmpeg has ended."""
        self._thread.join()

    def _run(self) -> None:
        try:
            while lines := os.read(self._fd, _READ_BYTES):
                with self._changed:
                    self._room += lines.count(b"\n")
                    self._changed.notify_all()
        finally:
            os.close(self._fd)
            self.open()
