"""The typed values that travel between the stages, and what a stage needs to know of a recording."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import numpy as np
import torch
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
class PromptTrack:
    """What is asked for, and when: prompt j holds from `starts[j]` on, until the next one starts.

    `starts` are seconds in ascending order, the first of them 0. `tokens[j]` are the tokens [1, P, D] that
    the family's text encoder makes of prompt j; equal prompts may share them. A family takes them frame by
    frame, or, where they are long text embeddings that a whole chunk attends to, those that hold when the
    chunk begins: a cue within a chunk then waits for the next one.
    """

    starts: tuple[Fraction, ...]
    tokens: tuple[Tensor, ...]

    def at(self, seconds: Fraction) -> Tensor:
        """Tokens [1, P, D] of the prompt that holds at `seconds`; before 0 it is the first one."""
        return self.tokens[max(bisect_right(self.starts, seconds) - 1, 0)]

    def of_frames(self, frames: Iterable[int], fps: Fraction) -> Tensor:
        """Tokens [1, T, P, D] of the prompts that hold when each of T frames begins, at k / fps."""
        return torch.stack([self.at(frame / fps) for frame in frames], dim=1)


@dataclass(frozen=True)
class Conditioning:
    """What is known for the whole job: made once from the reference and the prompt.

    `tokens` are the reference tokens [1, R, F] that both DiTs attend to (R >= 64), `prompt` the prompts with
    their times. `rest` is the reference's own latent [C] against the family's neutral. `scene` is what lies
    behind the person, at the size of the video. `reference` is the family's own description of the person,
    for the decoder.
    """

    tokens: Tensor
    prompt: PromptTrack
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
