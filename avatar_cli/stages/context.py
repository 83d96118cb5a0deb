"""Context generation: the sound around a chunk, encoded, together with prompt, scene and reference tokens."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from torch import Tensor

from avatar_cli.runtime.chunks import Chunk
from avatar_cli.runtime.residency import Residency
from avatar_cli.runtime.span import Span
from avatar_cli.runtime.stage import BeforeLastCall, Piece, nothing_follows
from avatar_cli.runtime.state import Checkpointable
from avatar_cli.stages.values import Conditioning, Context, SpeechTrack

Audio = TypeVar("Audio")
Audio_co = TypeVar("Audio_co", covariant=True)
AudioState = TypeVar("AudioState", bound=Checkpointable)


class AudioConditioner(Protocol[Audio_co, AudioState]):
    """A family's way from sound to what its audio-to-video model attends to."""

    @property
    def residencies(self) -> tuple[Residency, ...]:
        """The networks behind it."""

    def open(self) -> AudioState:
        """State at the beginning of the recording."""

    def encode(self, state: AudioState, speech: SpeechTrack, window: Span) -> Audio_co:
        """Audio conditioning for the frames of `window`; may look a fixed time ahead of it, never further.

        Windows come in order of work, so they may go back by less than two chunks.
        """

    def release(self, state: AudioState, before: int) -> None:
        """Frames before `before` will not be asked for again."""


@dataclass
class ContextState(Generic[AudioState]):
    """Rolling state: that of the audio encoder, and the conditioning of the job."""

    audio: AudioState
    conditioning: Conditioning

    def to_tensors(self) -> dict[str, Tensor]:
        """The part that changes from chunk to chunk."""
        return self.audio.to_tensors()

    def load_tensors(self, tensors: dict[str, Tensor]) -> None:
        """Inverse of `to_tensors`, in place."""
        self.audio.load_tensors(tensors)


class ContextStage(Generic[Audio, AudioState]):
    """Takes chunks in order of work and gives each its context."""

    name = "context"

    def __init__(self, audio: AudioConditioner[Audio, AudioState], speech: SpeechTrack) -> None:
        self._audio = audio
        self._speech = speech
        self.residencies = audio.residencies

    def open(self, reference: Conditioning) -> ContextState[AudioState]:
        """State before the first chunk."""
        return ContextState(self._audio.open(), reference)

    def push(
        self,
        state: ContextState[AudioState],
        piece: Piece[Chunk],
        before_last_call: BeforeLastCall = nothing_follows,
    ) -> Iterable[Piece[Context[Audio]]]:
        """The context of one chunk."""
        before_last_call()
        chunk = piece.value
        window = Span(chunk.window.start - 1, chunk.window.stop + 1)
        audio = self._audio.encode(state.audio, self._speech, window)
        # In order of work, no later chunk begins before this one's own border.
        self._audio.release(state.audio, window.start)
        yield Piece(chunk.span, Context(chunk, window, audio, state.conditioning))

    def finish(self, state: ContextState[AudioState]) -> Iterable[Piece[Context[Audio]]]:
        """Nothing is held back."""
        return ()
