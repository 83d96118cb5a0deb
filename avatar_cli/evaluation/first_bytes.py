"""When a growing video first plays, seen from outside: snapshots of the file, tried in a real decoder."""

import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from avatar_cli.media.decoding import read_frames
from avatar_cli.protocol.events import now

_PERIOD = 0.002  # seconds between two looks
_MOST_BYTES = 64 * 1024 * 1024  # of snapshots kept


@dataclass(frozen=True)
class Snapshot:
    """What a file held at a moment of the job clock."""

    time: float
    content: bytes


class GrowingFile:
    """Keeps the first snapshots of a file, one each time that it has grown.

    They are tried only after the job, so that the decoder does not compete with the job for the processor.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._snapshots: list[Snapshot] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="growing-file", daemon=True)
        self._thread.start()

    def stop(self) -> list[Snapshot]:
        """No more snapshots; those taken, in order of time."""
        self._stop.set()
        self._thread.join()
        return self._snapshots

    def _watch(self) -> None:
        size = kept = 0
        while not self._stop.wait(_PERIOD) and kept < _MOST_BYTES:
            try:
                grown = self._path.stat().st_size
                if grown == size:
                    continue
                content = self._path.read_bytes()
            except FileNotFoundError:
                continue
            self._snapshots.append(Snapshot(now(), content))
            size = len(content)
            kept += size


def first_playable(snapshots: list[Snapshot]) -> float | None:
    """Time of the first snapshot from which one video frame can be decoded, or None where there is none."""
    for snapshot in snapshots:
        if decodes_a_frame(snapshot.content):
            return snapshot.time
    return None


def decodes_a_frame(content: bytes) -> bool:
    """Whether ffmpeg gets a picture out of the bytes of an MP4 that may have been cut anywhere."""
    with tempfile.NamedTemporaryFile(suffix=".mp4") as file:
        file.write(content)
        file.flush()
        try:
            return next(read_frames(Path(file.name)), None) is not None
        except RuntimeError:
            return False
