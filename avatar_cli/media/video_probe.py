"""What a video of a person is, before its frames are read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ffmpeg

from avatar_cli.media.ffmpeg import ChildProcess, start_ffmpeg
from avatar_cli.media.input_path import check_is_file, unreadable
from avatar_cli.media.sound_kind import DEMUXERS
from avatar_cli.protocol.errors import InputError

# Besides those of recordings of sound, the containers and raw formats of video that are told by content.
_DEMUXERS = (*DEMUXERS, "mpegvideo", "dv", "ivf")
_STREAM = re.compile(r"Stream #0:\d+.*?: (Video|Audio): (.*)")
_DURATION = re.compile(r"Duration: (\d+):(\d\d):(\d\d\.\d+)")
_RATE = re.compile(r", ([\d.]+)(k?) (?:fps|tbr)")
# The matrix is named first where range, matrix, primaries and transfer are told.
_MATRIX = re.compile(r"[(, ](?:bt709|bt470bg|smpte170m|smpte240m|fcc|bt2020nc|bt2020c|gbr)\b")
_DIMENSIONS = re.compile(r"^#dimensions 0: (\d+)x(\d+)", re.MULTILINE)
_FRAME = re.compile(r"^0,", re.MULTILINE)
_NO_STREAM = "matches no streams"
_UNKNOWN = ("Error opening input: Invalid data", "Format not on whitelist", "moov atom not found")
_HDR_TRANSFERS = ("smpte2084", "arib-std-b67")  # PQ and HLG (ITU-R BT.2100)
_USUAL_RATE = 30.0  # frames a second, of files that tell none
# Pixels as wide as high; frames that are flagged as interlaced are made whole.
SQUARE = "scale=w='max(1,round(iw*if(gt(sar,0),sar,1)))':h=ih"
_VIDEO = "V:0"  # the first video track that is no cover picture


@dataclass(frozen=True)
class VideoInfo:
    """What a video says of itself.

    Attributes:
        width: Of a frame as it is seen: upright, with square pixels.
        height: The same.
        rate: Frames a second, about.
        seconds: Its length as the container tells it; None where it does not.
        hdr: Whether its brightness is that of BT.2100, which a plain screen cannot show as it is.
        tells_matrix: Whether it says how its colours are made of its samples.
        sound: Whether it has a sound track.
    """

    width: int
    height: int
    rate: float
    seconds: float | None
    hdr: bool
    tells_matrix: bool
    sound: bool


def probe_video(path: Path) -> VideoInfo:
    """Looks at the header and decodes the first frame.

    Raises:
        InputError: It cannot be read, shows no pictures, or none that can be decoded.
    """
    try:
        check_is_file(path)
        child = decode_video(path, {}, {"format": "framecrc", "vf": SQUARE, "frames": "1"})
    except OSError as error:
        raise unreadable(path, error) from error
    table = child.read().decode()
    words = child.complaint()
    size = _DIMENSIONS.search(table)
    if size is None or not _FRAME.search(table):
        raise _refusal(path, words or "it holds no frame")
    streams = _input_streams(child.lines)
    video = next(text for kind, text in streams if kind == "Video" and "(attached pic)" not in text)
    rate = _RATE.search(video)
    length = next((match for line in child.lines if (match := _DURATION.search(line))), None)
    return VideoInfo(
        width=int(size[1]),
        height=int(size[2]),
        rate=float(rate[1]) * (1000 if rate[2] else 1) if rate else _USUAL_RATE,
        seconds=int(length[1]) * 3600 + int(length[2]) * 60 + float(length[3]) if length else None,
        hdr=any(transfer in video for transfer in _HDR_TRANSFERS),
        tells_matrix=_MATRIX.search(video) is not None,
        sound=any(kind == "Audio" for kind, _ in streams),
    )


def decode_video(path: Path, reading: Mapping[str, Any], making: Mapping[str, Any]) -> ChildProcess:
    """Starts ffmpeg on the first video track; what it makes comes through its standard output.

    The child is given the open file, so that it can read no other, whatever this one names, and cannot take
    its name's ending for its kind. Options of input and output are those of ffmpeg. Raises OSError.
    """
    with path.open("rb") as file:
        source = ffmpeg.input(
            "fd:", fd=file.fileno(), protocol_whitelist="fd", format_whitelist=",".join(_DEMUXERS), **reading
        )
        return start_ffmpeg(ffmpeg.output(source[_VIDEO], "pipe:1", **making), (file.fileno(),))


def _input_streams(lines: list[str]) -> list[tuple[str, str]]:
    """Kind and description of the streams that come in; those that go out are listed after them."""
    before = lines[: next((n for n, line in enumerate(lines) if "Output #0" in line), len(lines))]
    return [(match[1], match[2]) for line in before if (match := _STREAM.search(line))]


def _refusal(path: Path, words: str) -> InputError:
    if _NO_STREAM in words:
        return InputError(
            f"{path} has sound but no pictures: give a picture or a video of the person "
            "(REF comes before SPEECH)."
        )
    if words.startswith(_UNKNOWN):
        return InputError(f"{path} is damaged or no video that ffmpeg knows: save or download it again.")
    return InputError(f"{path} cannot be decoded ({words}): save it again, or give another video.")
