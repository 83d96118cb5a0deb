"""The job description: everything the ranks need to know, resolved and validated by the parent."""

import dataclasses
import json
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

from avatar_cli.protocol.outer import Outer

AUTO_RANKS = 0  # as many as there are GPUs, settled before the job is handed over


class Fit(Enum):
    """How a reference of another shape is brought to the size of the video."""

    CROP = "crop"
    PAD = "pad"


class Mode(Enum):
    """Order of work: chunk by chunk through all stages, or stage by stage through all chunks."""

    STREAMING = "streaming"
    BATCH = "batch"


@dataclass(frozen=True)
class Picture:
    """The video's frames."""

    width: int
    height: int
    fps: Fraction
    fit: Fit
    background: str  # the scene behind the person and in bars: a colour, or the absolute path of a picture
    face: int | None  # which of several faces speaks, counted from the left from 1; None: the largest


PLAINLY = 1.0  # intensity of a word with nothing before it


@dataclass(frozen=True)
class Prompted:
    """A word of the model's vocabulary, and how strongly it is meant."""

    word: str
    intensity: float


@dataclass(frozen=True)
class Cue:
    """What is asked for from a moment of the video on, until the next cue; without words: nothing."""

    at: Fraction  # seconds
    words: tuple[Prompted, ...]


@dataclass(frozen=True)
class Generation:
    """What the models are asked for."""

    model: str  # name of the family, or a folder with weights
    prompt: tuple[Cue, ...]  # in order of time; nothing is asked for before the first one
    seed: int
    steps: int
    chunk_frames: int  # n: frames of an N chunk, at the family's frame rate
    interpolated_frames: int  # i: frames of an I chunk; 0 means N chunks only
    border_frames: int  # b: clean frames handed to the next chunk
    mode: Mode


@dataclass(frozen=True)
class Encoding:
    """Options of the H.264/AAC encoder."""

    preset: str
    crf: int
    audio_bitrate_kbps: int


@dataclass(frozen=True)
class Compute:
    """Processes and threads."""

    ranks: int
    threads: int  # torch threads of a rank
    outer: Outer | None = None  # where an outer launcher starts the ranks, one for each command


@dataclass(frozen=True)
class RenderJob:
    """One render: paths are absolute."""

    reference: str
    speech: str  # a path, or "-" for standard input
    output: str
    picture: Picture
    generation: Generation
    encoding: Encoding
    compute: Compute
    frame_hashes: str | None  # file for one hash a frame
    spool: str | None = None  # where a speech that comes through a pipe is kept while it arrives

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(_plain(dataclasses.asdict(self)))

    @classmethod
    def from_json(cls, text: str) -> "RenderJob":
        """Inverse of `to_json`."""
        data = json.loads(text)
        picture, generation = data["picture"], data["generation"]
        return cls(
            reference=data["reference"],
            speech=data["speech"],
            output=data["output"],
            picture=Picture(
                **{**picture, "fps": Fraction(picture["fps"]), "fit": Fit(picture["fit"])},
            ),
            generation=Generation(
                **{
                    **generation,
                    "prompt": tuple(_cue(cue) for cue in generation["prompt"]),
                    "mode": Mode(generation["mode"]),
                },
            ),
            encoding=Encoding(**data["encoding"]),
            compute=_compute(data["compute"]),
            frame_hashes=data["frame_hashes"],
            spool=data["spool"],
        )


def _compute(data: dict[str, Any]) -> Compute:
    outer = data.get("outer")
    return Compute(**{**data, "outer": Outer(**outer) if outer else None})


def _cue(data: dict[str, Any]) -> Cue:
    return Cue(Fraction(data["at"]), tuple(Prompted(**word) for word in data["words"]))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Fraction):
        return str(value)
    return value
