"""From a recording to the audio tokens of a window: mel stream, voice gate, a short memory, audio encoder.

Where nobody speaks, models are given the tokens of digital silence, whatever else can be heard.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from avatar_cli.families.portrait.audio_encoder import (
    LEFT_CONTEXT_FRAMES,
    LOOK_AHEAD_FRAMES,
    AudioTokens,
)
from avatar_cli.families.portrait.audio_features import MELS, MELS_PER_FRAME, SILENCE, LogMelStream
from avatar_cli.families.portrait.voice_gate import BLOCK, VoiceGate
from avatar_cli.runtime.residency import Residency
from avatar_cli.runtime.span import Span
from avatar_cli.stages.values import SpeechTrack


@dataclass(frozen=True)
class PortraitAudio:
    """Audio conditioning of the frames of `window`: encoder outputs, and the mels they were made from.

    Both are those of digital silence where nobody speaks.
    """

    window: Span
    tokens: AudioTokens
    mels: Tensor  # [1, 4 n, 48]


@dataclass
class MelMemory:
    """Rolling state: the streams, and the mels and gate values that a later window may still need."""

    stream: LogMelStream
    voice: VoiceGate
    mels: NDArray[np.float32]  # [m, 48], the first one is mel frame `first`
    gate: NDArray[np.float32]  # [n], the first one is that of frame `first` / 4
    first: int = 0
    heard: int = 0  # samples given to the streams

    def to_tensors(self) -> dict[str, Tensor]:
        """The streams' own states, the kept mels and gate values, and the counters."""
        own = {"mels": self.mels, "gate": self.gate, "counters": np.array([self.first, self.heard])}
        stream = {f"stream.{key}": value for key, value in self.stream.state().items()}
        voice = {f"voice.{key}": value for key, value in self.voice.state().items()}
        return {key: torch.from_numpy(value) for key, value in {**own, **stream, **voice}.items()}

    def load_tensors(self, tensors: dict[str, Tensor]) -> None:
        """Inverse of `to_tensors`, in place."""
        arrays = {key: value.numpy() for key, value in tensors.items()}
        self.mels, self.gate = arrays["mels"], arrays["gate"]
        self.first, self.heard = arrays["counters"].tolist()
        self.stream.restore(_of("stream.", arrays))
        self.voice.restore(_of("voice.", arrays))


class SpeechConditioner:
    """The portrait family's AudioConditioner."""

    def __init__(self, encoder: Residency, detector: Residency) -> None:
        self._encoder = encoder
        self._detector = detector
        self.residencies = (encoder, detector)

    def open(self) -> MelMemory:
        """State at the beginning of the recording."""
        nothing = np.empty(0, np.float32)
        return MelMemory(LogMelStream(), VoiceGate(self._detector), nothing.reshape(0, MELS), nothing)

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
        own_mels = slice(MELS_PER_FRAME * own.start, MELS_PER_FRAME * own.stop)
        gate = _gate(memory, window)
        tokens = AudioTokens(
            *(
                torch.lerp(silent, sounding[:, own], gate)
                for silent, sounding in zip(self._silence, self._encoder.network(heard), strict=True)
            )
        )
        voiced = gate.repeat_interleave(MELS_PER_FRAME, dim=1) > 0
        return PortraitAudio(window, tokens, torch.where(voiced, heard[:, own_mels], SILENCE))

    @cached_property
    def _silence(self) -> AudioTokens:
        """Tokens [1, 1, ...] of a frame in the middle of digital silence."""
        frames = LEFT_CONTEXT_FRAMES + 1 + LOOK_AHEAD_FRAMES
        silence = torch.full((1, MELS_PER_FRAME * frames, MELS), SILENCE)
        middle = slice(LEFT_CONTEXT_FRAMES, LEFT_CONTEXT_FRAMES + 1)
        return AudioTokens(*(value[:, middle] for value in self._encoder.network(silence)))

    def release(self, memory: MelMemory, before: int) -> None:
        """Forget what no window from frame `before` on can reach."""
        keep = max(MELS_PER_FRAME * (before - LEFT_CONTEXT_FRAMES), memory.first)
        passed = keep - memory.first
        memory.mels = memory.mels[passed:].copy()  # a view would keep the old array
        memory.gate = memory.gate[passed // MELS_PER_FRAME :].copy()
        memory.first = keep

    def _hear(self, memory: MelMemory, speech: SpeechTrack, stop: int) -> None:
        """Read on until mel frame `stop` - 1 is there; gate values then reach as far as the window."""
        mels, gate = [memory.mels], [memory.gate]
        complete = memory.first + len(memory.mels)
        while complete < stop:
            samples = speech.model_samples(memory.heard, memory.heard + BLOCK)
            memory.heard += BLOCK
            speech.release_model(memory.heard)
            mels.append(memory.stream.push(samples))
            gate.append(memory.voice.push(samples))
            complete += len(mels[-1])
        if len(mels) > 1:
            memory.mels, memory.gate = np.concatenate(mels), np.concatenate(gate)


def _gate(memory: MelMemory, window: Span) -> Tensor:
    """Gate values [1, n, 1] of the frames of a window; before the recording the first one holds."""
    frames = np.maximum(np.arange(window.start, window.stop), 0)
    return torch.from_numpy(memory.gate[frames - memory.first // MELS_PER_FRAME])[None, :, None]


def _of(prefix: str, arrays: dict[str, NDArray[np.generic]]) -> dict[str, NDArray[np.generic]]:
    return {key.removeprefix(prefix): value for key, value in arrays.items() if key.startswith(prefix)}
