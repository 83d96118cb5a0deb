"""What a render that ended early leaves beside its output."""

import os
import time
from pathlib import Path

import ffmpeg

from avatar_cli.media.ffmpeg import start_ffmpeg
from avatar_cli.media.fragment_watch import top_boxes
from avatar_cli.media.partial_file import lock

_ENCODER_SECONDS = 3.0  # for an encoder whose input has closed to complete the file
_PERIOD = 0.02  # seconds


def settle_leftover(partial: Path) -> int | None:
    """Frames in the partial file of a render whose processes have ended; one that holds none is removed.

    Waits for the encoder, which ends by itself. None where that takes long, where another render is writing
    the file, or where ffmpeg cannot tell: then the file is left alone.
    """
    if partial.is_symlink() or not partial.is_file():
        return 0
    try:
        file = os.open(partial, os.O_RDONLY)
    except OSError:  # taken away, or no longer ours to read
        return None
    try:
        if not _is_released(file):
            return None
        frames = video_frames(partial)
        if frames == 0:
            partial.unlink(missing_ok=True)
        return frames
    finally:
        os.close(file)


def video_frames(path: Path) -> int | None:
    """Pictures in an MP4, which may be broken off; None where ffmpeg cannot tell."""
    if (b"moov", True) not in top_boxes(path):
        return 0
    packets = ffmpeg.output(ffmpeg.input(f"file:{path}")["v:0"], "pipe:1", format="framecrc", c="copy")
    child = start_ffmpeg(packets)
    frames = sum(line.startswith(b"0,") for line in child.read().splitlines())
    return None if child.complaint() and not frames else frames


def _is_released(file: int) -> bool:
    deadline = time.monotonic() + _ENCODER_SECONDS
    while True:
        try:
            lock(file)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(_PERIOD)
        else:
            return True
