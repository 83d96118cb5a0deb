"""Puts right how much of its video track a finished MP4 shows.

Where a fragment begins between the last picture and the B-frames that are coded behind it, the muxer of
ffmpeg ends the track at the last of those, and players then leave out the last picture. The length of the
samples themselves, in the `mdhd` of the track, is exact (ISO/IEC 14496-12, 8.2.2, 8.3.2, 8.4.2 and 8.6.6).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from avatar_cli.media.mp4_boxes import Box, boxes

_VIDEO = b"vide"


@dataclass(frozen=True)
class _Number:
    """A whole number in a file, of 4 or 8 bytes."""

    start: int
    size: int

    def read(self, file: BinaryIO) -> int:
        file.seek(self.start)
        return int.from_bytes(file.read(self.size), "big")

    def write(self, file: BinaryIO, value: int) -> None:
        file.seek(self.start)
        file.write(value.to_bytes(self.size, "big"))


def show_every_frame(path: Path) -> None:
    """Lengthen the edit of each video track in place, where it is shorter than the track's samples.

    Tracks with other edit lists than ffmpeg's single one are left alone.
    """
    with path.open("r+b") as file:
        whole = Box(b"", 0, path.stat().st_size)
        movie = _find(file, whole, b"moov")
        movie_rate = _timescale(_find(file, movie, b"mvhd"), file).read(file)
        for track in (box for box in boxes(file, movie.start, movie.stop) if box.name == b"trak"):
            media = _find(file, track, b"mdia")
            edits = _find(file, _find(file, track, b"edts"), b"elst")
            if _handler(file, media) != _VIDEO or _Number(edits.start + 4, 4).read(file) != 1:
                continue
            header = _find(file, media, b"mdhd")
            rate, length = _timescale(header, file), _length(header, file)
            needed = -(-length.read(file) * movie_rate // rate.read(file))
            for shown in (_edit_length(edits, file), _track_length(_find(file, track, b"tkhd"), file)):
                if shown.read(file) < needed:
                    shown.write(file, needed)


def _find(file: BinaryIO, around: Box, name: bytes) -> Box:
    return next(box for box in boxes(file, around.start, around.stop) if box.name == name)


def _handler(file: BinaryIO, media: Box) -> bytes:
    file.seek(_find(file, media, b"hdlr").start + 8)
    return file.read(4)


def _wide(box: Box, file: BinaryIO) -> bool:
    """Whether times in a box are of 8 bytes."""
    return _Number(box.start, 1).read(file) == 1


def _timescale(header: Box, file: BinaryIO) -> _Number:
    """Of `mvhd` and `mdhd`: behind version, flags and two times."""
    return _Number(header.start + (20 if _wide(header, file) else 12), 4)


def _length(header: Box, file: BinaryIO) -> _Number:
    """Of `mvhd` and `mdhd`."""
    return _Number(header.start + 24, 8) if _wide(header, file) else _Number(header.start + 16, 4)


def _track_length(header: Box, file: BinaryIO) -> _Number:
    """Of `tkhd`: behind version, flags, two times, the track's number and a gap."""
    return _Number(header.start + 28, 8) if _wide(header, file) else _Number(header.start + 20, 4)


def _edit_length(edits: Box, file: BinaryIO) -> _Number:
    """Of the first entry of `elst`."""
    return _Number(edits.start + 8, 8 if _wide(edits, file) else 4)
