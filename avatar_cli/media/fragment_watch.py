"""Notices when a growing MP4 first holds something that plays."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from avatar_cli.media.mp4_boxes import boxes

_PERIOD = 0.005  # seconds


def has_fragment(path: Path) -> bool:
    """Whether the file holds a whole header and a whole first fragment (ISO/IEC 14496-12, 8.8)."""
    seen: list[bytes] = []
    for name, whole in top_boxes(path):
        if whole:
            seen.append(name)
        if seen[-2:] == [b"moof", b"mdat"] and b"moov" in seen:
            return True
    return False


def top_boxes(path: Path) -> Iterator[tuple[bytes, bool]]:
    """Type of each top-level box, and whether all of it is there."""
    length = path.stat().st_size
    with path.open("rb") as file:
        for box in boxes(file, 0, length):
            yield box.name, box.stop <= length


class FragmentWatch:
    """Calls back once, from its own thread, when the file first holds a fragment.

    Args:
        path: The growing file; it need not exist yet.
        found: Called once.
    """

    def __init__(self, path: Path, found: Callable[[], None]) -> None:
        self._path = path
        self._found = found
        self._stop = threading.Event()
        self._done = False
        self._thread = threading.Thread(target=self._run, name="first-bytes", daemon=True)
        self._thread.start()

    def end(self, *, complete: bool) -> None:
        """Stop watching. A file that was finished before it had a fragment counts as found now."""
        self._stop.set()
        self._thread.join()
        if complete and not self._done:
            self._done = True
            self._found()

    def _run(self) -> None:
        size = 0
        while not self._stop.wait(_PERIOD):
            try:
                grown = self._path.stat().st_size
                if grown != size and has_fragment(self._path):
                    self._done = True
                    self._found()
                    return
                size = grown
            except FileNotFoundError:
                continue
