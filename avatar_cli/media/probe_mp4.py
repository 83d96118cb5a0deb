"""What a rendered MP4 really holds: its tracks, their exact times, and its sound as it is."""

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import ffmpeg
import numpy as np
import numpy.typing as npt

from avatar_cli.media.ffmpeg import ChildProcess, start_ffmpeg
from avatar_cli.protocol.errors import InputError

_VIDEO = re.compile(r"Stream #0:\d+.*: Video: (\w+).*?\((\w+) / 0x\w+\), (\w+)\(([^)]*)\), (\d+)x(\d+)")
_SOUND = re.compile(r"Stream #0:\d+.*: Audio: (\w+).*?\((\w+) / 0x\w+\), (\d+) Hz, ([^,]+)")
_TIME_BASE = re.compile(r"#tb (\d): (\d+)/(\d+)")
_CHANNELS = {"mono": 1, "stereo": 2, "3.0": 3, "4.0": 4, "5.0": 5, "5.1": 6}


@dataclass(frozen=True)
class VideoTrack:
    """The pictures of a file.

    Attributes:
        codec: Such as `h264`.
        tag: The sample entry of the container, such as `avc1`.
        pixels: Pixel format, such as `yuv420p`.
        colour: Range, matrix and scan as ffmpeg prints them, such as `tv, bt709, progressive`.
        width: In pixels.
        height: In pixels.
        times: When each frame is shown, in seconds, in order.
        end: When the last frame ends, in seconds.
        keyframes: Indices into `times` at which decoding can start.
    """

    codec: str
    tag: str
    pixels: str
    colour: str
    width: int
    height: int
    times: tuple[Fraction, ...]
    end: Fraction
    keyframes: tuple[int, ...]


@dataclass(frozen=True)
class SoundTrack:
    """The sound of a file; `start` and `end` in seconds, without the encoder's priming and padding."""

    codec: str
    tag: str
    rate: int
    channels: int
    start: Fraction
    end: Fraction


@dataclass(frozen=True)
class Mp4Facts:
    """One track of each."""

    video: VideoTrack
    sound: SoundTrack


def probe_mp4(path: Path) -> Mp4Facts:
    """Read every packet of a file with one video and one sound track, decoding none.

    Raises:
        InputError: it is not such a file, or ffmpeg cannot read it.
    """
    lines, table = _packets(path)
    video = next((match for line in lines if (match := _VIDEO.search(line))), None)
    sound = next((match for line in lines if (match := _SOUND.search(line))), None)
    if video is None or sound is None:
        raise InputError(f"{path} does not have one video and one sound track: give a video made by avatar.")
    bases = {int(m[1]): Fraction(int(m[2]), int(m[3])) for m in _TIME_BASE.finditer(table)}
    rows = [line.split(",") for line in table.splitlines() if line and not line.startswith("#")]
    shown = sorted(
        (int(pts), int(length), not any(cell.strip().startswith("F=") for cell in flags))
        for stream, _dts, pts, length, _size, _crc, *flags in rows
        if int(stream) == 0
    )
    heard = [(int(row[2]), int(row[3])) for row in rows if int(row[0]) == 1]
    return Mp4Facts(
        VideoTrack(
            codec=video[1],
            tag=video[2],
            pixels=video[3],
            colour=video[4],
            width=int(video[5]),
            height=int(video[6]),
            times=tuple(pts * bases[0] for pts, _length, _key in shown),
            end=(shown[-1][0] + shown[-1][1]) * bases[0],
            keyframes=tuple(index for index, (_pts, _length, key) in enumerate(shown) if key),
        ),
        SoundTrack(
            codec=sound[1],
            tag=sound[2],
            rate=int(sound[3]),
            channels=_CHANNELS[sound[4]],
            start=max(heard[0][0], 0) * bases[1],  # what lies before zero is priming, which no player plays
            end=max(pts + length for pts, length in heard) * bases[1],
        ),
    )


def decoding_fault(path: Path) -> str | None:
    """The first thing ffmpeg complains about when it decodes the whole file; None for a sound one."""
    child = start_ffmpeg(ffmpeg.output(*_tracks(path), "pipe:1", format="null"))
    child.read()
    return child.complaint()


def read_sound(path: Path) -> npt.NDArray[np.float32]:
    """All sound, float32 [n, channels] at the file's rate."""
    channels = probe_mp4(path).sound.channels
    child = start_ffmpeg(ffmpeg.output(_tracks(path)[1], "pipe:1", format="f32le"))
    samples = child.read()
    _check(child, path)
    return np.frombuffer(samples, "<f4").reshape(-1, channels)


def _packets(path: Path) -> tuple[list[str], str]:
    """What ffmpeg says of the file, and its table of packets with the file's own timestamps."""
    packets = ffmpeg.output(*_tracks(path), "pipe:1", format="framecrc", c="copy", copyts=None)
    child = start_ffmpeg(packets)
    table = child.read().decode()
    _check(child, path)
    return child.lines, table


def _tracks(path: Path) -> tuple[ffmpeg.Stream, ffmpeg.Stream]:
    source = ffmpeg.input(f"file:{path}")
    return source["v:0"], source["a:0"]


def _check(child: ChildProcess, path: Path) -> None:
    if complaint := child.complaint():
        raise InputError(f"{path} cannot be read ({complaint}): render it again.")
