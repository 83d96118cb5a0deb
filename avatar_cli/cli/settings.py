"""Every setting of a render: its dotted key, its flag, and how its value is read."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from avatar_cli.protocol.job import AUTO_RANKS, Fit, Mode
from avatar_cli.protocol.timing import parse_fps

SLOWEST_FPS = 1
FASTEST_FPS = 240
MOST_RANKS = 64
X264_PRESETS = (
    "ultrafast",
    "superfast",
    "veryfast",
    "faster",
    "fast",
    "medium",
    "slow",
    "slower",
    "veryslow",
)  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """One setting; `read` takes a word of the command line or a YAML value, not null; raises ValueError."""

    read: Callable[[Any], Any]
    flag: str | None = None


def _whole(low: int, high: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        try:
            number = int(str(value))
        except ValueError:
            number = low - 1
        if not low <= number <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return number

    return read


def _ranks(value: Any) -> int:
    try:
        return AUTO_RANKS if value == "auto" else _whole(1, MOST_RANKS)(value)
    except ValueError as error:
        raise ValueError(f"must be auto, or a whole number from 1 to {MOST_RANKS}") from error


def _one_of(*names: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in names:
            raise ValueError(f"must be one of {', '.join(names)}")
        return str(value)

    return read


def _fps(value: Any) -> Any:
    try:
        fps = parse_fps(str(value))
    except ValueError:
        fps = None
    if fps is None or not SLOWEST_FPS <= fps <= FASTEST_FPS:
        raise ValueError(
            f"must be a frame rate from {SLOWEST_FPS} to {FASTEST_FPS}, such as 25, 29.97 or 30000/1001"
        )
    return fps


def _prompt(value: Any) -> str:
    texts = value if isinstance(value, list) else [value]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("must be words such as `very happy, nodding`, or the name of a cue file")
    return ", ".join(texts)


def _text(value: Any) -> str:
    if isinstance(value, (list, dict)):
        raise ValueError("must be a word")
    return str(value)


SETTINGS: dict[str, Setting] = {
    "model": Setting(_text, "--model"),
    "picture.size": Setting(_text, "--size"),
    "picture.fps": Setting(_fps, "--fps"),
    "picture.fit": Setting(_one_of(*(fit.value for fit in Fit)), "--fit"),
    "picture.background": Setting(_text, "--background"),
    "picture.face": Setting(_whole(1, 99), "--face"),
    "generation.prompt": Setting(_prompt, "--prompt"),
    "generation.seed": Setting(_whole(0, 2**63 - 1), "--seed"),
    "generation.steps": Setting(_whole(1, 1000), "--steps"),
    "generation.mode": Setting(_one_of(*(mode.value for mode in Mode)), "--mode"),
    "chunks.frames": Setting(_whole(1, 1000)),
    "chunks.interpolated": Setting(_whole(0, 1000)),
    "chunks.border": Setting(_whole(0, 1000)),
    "encoding.preset": Setting(_one_of(*X264_PRESETS)),
    "encoding.crf": Setting(_whole(0, 51)),
    "encoding.audio_bitrate_kbps": Setting(_whole(32, 512)),
    "compute.ranks": Setting(_ranks, "--nproc"),
    "compute.threads": Setting(_whole(1, 1024), "--threads"),
}
