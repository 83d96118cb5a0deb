"""The typed values that travel between the stages, and what a stage needs to know of a recording."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from avatar_cli.runtime.chunks import Chunk
from avatar_cli.runtime.span import Span

Audio = TypeVar("Audio")
Frame: TypeAlias = NDArray[np.uint8]  # [height, width, 3] RGB


class SpeechTrack(Protocol):
    """A recording that may still be arriving. One compute thread reads it forwards."""

    def model_samples(self, start: int, stop: int) -> NDArray[np.float32]:
        """Mono samples [stop - start] at `timing.MODEL_RATE`; zeros before the start and after the end."""

    def release_model(self, before: int) -> None:
        """Samples before index `before` will not be asked for again."""

    def covers(self, seconds: Fraction) -> bool:
        """Whether the recording is longer than `seconds`; waits for as much of it as is needed to know."""


@dataclass(frozen=True)
class Conditioning:
    """What is known for the whole job: made once from the reference and the prompt.

    `tokens` are the reference tokens [1, R, F] that both DiTs attend to (R >= 64), `prompt` the prompt tokens
    [1, P, D]. `rest` is the reference's own latent [C] against the family's neutral. `scene` is what lies
    behind the person, at the size of the video. `reference` is the family's own description of the person,
    for the decoder.
    """

    tokens: Tensor
    prompt: Tensor
    rest: Tensor
    scene: Frame
    reference: Any


@dataclass(frozen=True)
class Context(Generic[Audio]):
    """What the audio-to-video model hears and is told for one chunk.

    `audio` covers the frames of `window`: the chunk's clean frames and its own, contiguous, with one frame
    more on either side.
    """

    chunk: Chunk
    window: Span
    audio: Audio
    conditioning: Conditioning
