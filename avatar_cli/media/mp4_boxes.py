"""The boxes that an MP4 consists of (ISO/IEC 14496-12, 4.2), also of one that still grows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO


@dataclass(frozen=True)
class Box:
    """A box of a file: `name`, and its content from `start` to `stop`, which may lie behind the end."""

    name: bytes
    start: int
    stop: int


def boxes(file: BinaryIO, start: int, stop: int) -> Iterator[Box]:
    """The boxes between two places of a file; ends early at one whose size is not written yet."""
    while start + 8 <= stop:
        file.seek(start)
        head = file.read(16)
        size, content = int.from_bytes(head[:4], "big"), 8
        if size == 1:  # the size follows in 64 bits
            size, content = int.from_bytes(head[8:], "big"), 16
        if size < content:
            return
        yield Box(head[4:8], start + content, start + size)
        start += size
