"""From a recording to the audio tokens of a window: a mel stream, a short memory, the audio encoder."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from avatar_cli.families.portrait.audio_encoder import (
    LEFT_CONTEXT_FRAMES,
    LOOK_AHEAD_FRAMES,
    AudioTokens,
)
from avatar_cli.families.portrait.audio_features import MELS, SILENCE, LogMelStream
from avatar_cli.runtime.residency import Residency
from avatar_cli.runtime.span import Span
from avatar_cli.stages.values import SpeechTrack

MELS_PER_FRAME = 4  # 100 Hz against 25 frames/s
BLOCK = 2560  # samples read at a time: four frames


@dataclass(frozen=True)
class PortraitAudio:
    """Audio conditioning of the frames of `window`: encoder outputs, and the mels they were made from."""

    window: Span
    tokens: AudioTokens
    mels: Tensor  # [1, 4 n, 48]


@dataclass
class MelMemory:
    """Rolling state: the mel stream, and the mels that a later window may still need."""

    stream: LogMelStream
    mels: NDArray[np.float32]  # [m, 48], the first one is mel frame `first`
    first: int = 0
    heard: int = 0  # samples given to the stream

    def to_tensors(self) -> dict[str, Tensor]:
        """The stream's own state, the kept mels and the counters."""
        counters = torch.tensor([self.first, self.heard])
        stream = {f"stream.{key}": torch.from_numpy(value) for key, value in self.stream.state().items()}
        return {"mels": torch.from_numpy(self.mels), "counters": counters, **stream}

    def load_tensors(self, tensors: dict[str, Tensor]) -> None:
        """Inverse of `to_tensors`, in place."""
        self.mels = tensors["mels"].numpy()
        self.first, self.heard = tensors["counters"].tolist()
        prefix = "stream."
        own = {key: value for key, value in tensors.items() if key.startswith(prefix)}
        self.stream.restore({key.removeprefix(prefix): value.numpy() for key, value in own.items()})


class SpeechConditioner:
    """The portrait family's AudioConditioner."""

    def __init__(self, encoder: Residency) -> None:
        self._encoder = encoder
        self.residencies = (encoder,)

    def open(self) -> MelMemory:
        """State at the beginning of the recording."""
        return MelMemory(LogMelStream(), np.empty((0, MELS), np.float32))

    def encode(self, memory: MelMemory, speech: SpeechTrack, window: Span) -> PortraitAudio:
        """Tokens for the frames of `window`; hears LOOK_AHEAD_FRAMES beyond it."""
        start = MELS_PER_FRAME * (window.start - LEFT_CONTEXT_FRAMES)
        stop = MELS_PER_FRAME * (window.stop + LOOK_AHEAD_FRAMES)
        self._hear(memory, speech, stop)
        mels = np.full((stop - start, MELS), SILENCE, np.float32)
        begin = max(start, 0)  # before the recording there is silence
        mels[begin - start :] = memory.mels[begin - memory.first : stop - memory.first]
        heard = torch.from_numpy(mels)[None]
        own = slice(LEFT_CONTEXT_FRAMES, LEFT_CONTEXT_FRAMES + len(window))
        tokens = AudioTokens(*(value[:, own] for value in self._encoder.network(heard)))
        own_mels = slice(MELS_PER_FRAME * own.start, MELS_PER_FRAME * own.stop)
        return PortraitAudio(window, tokens, heard[:, own_mels])

    def release(self, memory: MelMemory, before: int) -> None:
        """Forget mels that no window from frame `before` on can reach."""
        keep = max(MELS_PER_FRAME * (before - LEFT_CONTEXT_FRAMES), memory.first)
        memory.mels = memory.mels[keep - memory.first :].copy()  # a view would keep the old array
        memory.first = keep

    def _hear(self, memory: MelMemory, speech: SpeechTrack, stop: int) -> None:
        """Read on until mel frame `stop` - 1 is there."""
        pieces = [memory.mels]
        complete = memory.first + len(memory.mels)
        while complete < stop:
            samples = speech.model_samples(memory.heard, memory.heard + BLOCK)
            memory.heard += BLOCK
            speech.release_model(memory.heard)
            pieces.append(memory.stream.push(samples))
            complete += len(pieces[-1])
        if len(pieces) > 1:
            memory.mels = np.concatenate(pieces)
