"""Size of the video, and the name of the file where none is given."""

import os
import re
from pathlib import Path

from avatar_cli.media.input_path import is_stream
from avatar_cli.protocol.errors import UsageError

SMALLEST_SIDE = 64
LARGEST_SIDE = 4096
_NAMED_HEIGHTS = {"360p": 360, "540p": 540, "720p": 720, "1080p": 1080}
_EXPLICIT = re.compile(r"(\d{1,5})x(\d{1,5})")


def resolve_size(text: str, reference: tuple[int, int]) -> tuple[int, int]:
    """Width and height of the video in pixels; both even, as H.264 with 4:2:0 colour needs them.

    Args:
        text: `360p`, `540p`, `720p`, `1080p` (16:9, upright for a reference taller than wide), `WxH`, or
            `source` for the size of the reference.
        reference: Width and height of the reference, upright.

    Raises:
        UsageError: not one of these, an odd side, or a side outside 64..4096.
    """
    if text in _NAMED_HEIGHTS:
        short = _NAMED_HEIGHTS[text]
        long = short * 16 // 9
        return (short, long) if reference[1] > reference[0] else (long, short)
    if text == "source":
        size = round_to_even(*reference)
        advice = "ask for a named size such as --size 720p"
        return _within_limits(size, f"The reference is {reference[0]}x{reference[1]} pixels", advice)
    explicit = _EXPLICIT.fullmatch(text)
    if explicit is None:
        raise UsageError(
            f"--size {text} is not a size: write {', '.join(_NAMED_HEIGHTS)}, source, or WxH such as 960x960."
        )
    size = (int(explicit[1]), int(explicit[2]))
    _within_limits(size, f"--size {text} was asked for", "choose a size between these")
    if size != round_to_even(*size):
        even = "x".join(map(str, round_to_even(*size)))
        raise UsageError(f"--size {text} has an odd side, which H.264 video cannot have: write {even}.")
    return size


def round_to_even(width: int, height: int) -> tuple[int, int]:
    """The nearest size below with even sides."""
    return width - width % 2, height - height % 2


def _within_limits(size: tuple[int, int], what: str, advice: str) -> tuple[int, int]:
    if min(size) < SMALLEST_SIDE or max(size) > LARGEST_SIDE:
        raise UsageError(
            f"{what}, but the sides of a video are {SMALLEST_SIDE} to {LARGEST_SIDE} pixels: {advice}."
        )
    return size


def derived_output(reference: Path, speech: Path) -> Path:
    """Name of the video where the user gave none: the speech's name with .mp4, in the current folder.

    A speech from a pipe has no name: the video gets the reference's. Where that is an input itself, the
    reference's name goes in front.
    """
    stem, other = (reference.stem, "speech") if is_stream(speech) else (speech.stem, speech.stem)
    name = Path(f"{stem}.mp4")
    taken = {os.path.realpath(reference), os.path.realpath(speech)}  # Path.resolve fails on a loop of links
    return name if os.path.realpath(name) not in taken else Path(f"{reference.stem}-{other}.mp4")
