"""The bytes of a recording on their way into ffmpeg."""

import os
import threading
from pathlib import Path
from typing import Any

from avatar_cli.media.input_path import check_is_file, spoken_name, unreadable
from avatar_cli.media.sound_kind import Read, lacks_its_end, plays_in_order
from avatar_cli.media.speech_spool import SpoolReader
from avatar_cli.protocol.errors import AvatarError, InputError

_PIECE = 1 << 16  # bytes

# What ffmpeg looks at before it begins. Its own choice is 5 s of sound: too long while it is being spoken.
_SHORT_LOOK = {"analyzeduration": 500_000, "max_probe_packets": 8}  # microseconds


class SpeechBytes:
    """Gives a recording to one ffmpeg child as an open descriptor, so that it can read nothing else.

    A file is handed over itself. A spool that may still grow is fed through a pipe where its kind allows it;
    else its end is waited for, and it is handed over like a file. ffmpeg makes the same samples either way.

    Args:
        path: The recording; of one that has a spool, only its name matters.
        spool: Where a recording that arrives through a pipe is kept.

    Attributes:
        name: The recording in sentences for the user.
        fd: What the child must inherit.
        fault: Why the feeding broke off; None while it has not.

    Raises:
        InputError: it cannot be read, or is empty.
        EnvironmentProblem: the spool broke off.
    """

    def __init__(self, path: Path, spool: Path | None = None) -> None:
        self.name = spoken_name(path)
        self.fault: AvatarError | None = None
        self._spool = spool
        reader = SpoolReader(spool, self.name) if spool else None
        self._file = reader.fd if reader else self._open(path)
        self.read: Read = reader.read_fully if reader else self._read_file
        try:
            if not self.read(0, 1):
                raise InputError(f"{self.name} is empty: give a recording of speech.")
            self._fed = reader is not None and plays_in_order(self.read)
            if reader and not self._fed:
                reader.wait_for_end()
        except BaseException:
            self.close()
            raise
        self.fd, self._write_end = os.pipe() if self._fed else (self._file, -1)

    @property
    def ffmpeg_input(self) -> dict[str, Any]:
        """Arguments of ffmpeg.input; the child may open nothing else, whatever the recording names."""
        if self._fed:
            return {"filename": f"pipe:{self.fd}", "protocol_whitelist": "pipe", **_SHORT_LOOK}
        return {"filename": "fd:", "fd": self.fd, "protocol_whitelist": "fd"}

    def feed(self) -> None:
        """Begin, now that the child has inherited `fd`; does nothing for what was handed over itself."""
        if self._fed and self._spool:
            os.close(self.fd)
            reader = SpoolReader(self._spool, self.name)  # its own, for it may still wait when we are closed
            threading.Thread(target=self._feed, args=[reader], name="speech-feeder", daemon=True).start()

    def lacks_its_end(self) -> bool:
        """Whether it is cut in a way that ffmpeg does not notice; to be asked at its end."""
        return lacks_its_end(self.read, os.fstat(self._file).st_size)

    def close(self) -> None:
        """Let the recording go; harmless when that was done. The feeder ends with the child's next read."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def _feed(self, reader: SpoolReader) -> None:
        offset = 0
        try:
            while piece := reader.read(offset, _PIECE):
                rest = memoryview(piece)
                while rest:
                    rest = rest[os.write(self._write_end, rest) :]
                offset += len(piece)
        except BrokenPipeError:
            pass  # the child has ended, and its owner learns why from its exit
        except AvatarError as fault:
            self.fault = fault
        finally:
            reader.close()
            os.close(self._write_end)

    def _open(self, path: Path) -> int:
        try:
            check_is_file(path)
            with path.open("rb") as file:  # which a folder refuses
                return os.dup(file.fileno())
        except OSError as error:
            raise unreadable(self.name, error) from error

    def _read_file(self, offset: int, length: int) -> bytes:
        try:
            return os.pread(self._file, length, offset)
        except OSError as error:
            raise unreadable(self.name, error) from error
