"""How fast frames come, from progress events."""

from collections import deque

from avatar_cli.protocol.events import Progress

WINDOW = 3.0  # seconds that "now" means


class Pace:
    """Frames a second over the last few seconds, and what follows from it."""

    def __init__(self) -> None:
        self._recent: deque[Progress] = deque()
        self.frames = 0
        self.total: int | None = None

    def add(self, progress: Progress) -> None:
        """Take the latest progress event; one without new frames leaves the pace as it was."""
        comes_with_frames = progress.frames > self.frames or not self._recent
        self.frames, self.total = progress.frames, progress.total
        if not comes_with_frames:
            return
        self._recent.append(progress)
        while len(self._recent) > 2 and progress.time - self._recent[0].time > WINDOW:
            self._recent.popleft()

    @property
    def fps(self) -> float | None:
        """Frames a second now; None until two events have come."""
        if len(self._recent) < 2:
            return None
        first, last = self._recent[0], self._recent[-1]
        return (last.frames - first.frames) / (last.time - first.time) if last.time > first.time else None

    @property
    def remaining(self) -> float | None:
        """Seconds until the last frame at this pace; None where length or pace is unknown."""
        if self.total is None or not self.fps:
            return None
        return max(self.total - self.frames, 0) / self.fps
