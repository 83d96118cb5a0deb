"""A half-open range of frames."""

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Span:
    """Frames start, start + 1, ... stop - 1, counted from the beginning of the video."""

    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start
