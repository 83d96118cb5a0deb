"""Decode: high-resolution latents to RGB frames, one at a time, at the video's own frame rate."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor

from avatar_cli.runtime.residency import Residency
from avatar_cli.runtime.span import Span
from avatar_cli.runtime.stage import BeforeLastCall, Piece, nothing_follows
from avatar_cli.stages.values import Conditioning, Frame

Latents = TypeVar("Latents")
Latents_contra = TypeVar("Latents_contra", contravariant=True)
OneFrame = TypeVar("OneFrame")


class FrameDecoder(Protocol[Latents_contra, OneFrame]):
    """A family's decoder. `frames` unpacks a piece, `between` moves in time, `render` makes pixels."""

    fps: Fraction

    @property
    def residencies(self) -> tuple[Residency, ...]:
        """The networks behind it."""

    def frames(self, latents: Latents_contra) -> list[OneFrame]:
        """The latents of each frame of a piece."""

    def between(self, before: OneFrame, after: OneFrame, weight: float) -> OneFrame:
        """Latents at `weight` (0..1) of the way from one frame to the next."""

    def render(self, latents: OneFrame) -> Frame:
        """RGB, uint8 [height, width, 3]; a fresh array that the decoder does not keep."""

    def to_tensors(self, latents: OneFrame) -> dict[str, Tensor]:
        """One frame's latents as tensors, to be saved."""

    def from_tensors(self, tensors: dict[str, Tensor]) -> OneFrame:
        """Inverse of `to_tensors`."""


@dataclass
class FrameClockState(Generic[OneFrame]):
    """Rolling state: the last frame seen, and the number of frames given out."""

    decoder: FrameDecoder
    last: OneFrame | None = None
    seen: int = 0
    given: int = 0

    def to_tensors(self) -> dict[str, Tensor]:
        """Counters, and the last frame's latents."""
        counters = {"seen": torch.tensor(self.seen), "given": torch.tensor(self.given)}
        return counters if self.last is None else {**counters, **self.decoder.to_tensors(self.last)}

    def load_tensors(self, tensors: dict[str, Tensor]) -> None:
        """Inverse of `to_tensors`, in place."""
        rest = dict(tensors)
        self.seen = int(rest.pop("seen"))
        self.given = int(rest.pop("given"))
        self.last = self.decoder.from_tensors(rest) if rest else None


class DecodeStage(Generic[Latents, OneFrame]):
    """Takes high-resolution latents in order of emission and gives frames, lazily.

    Where the video's frame rate is the family's, every latent is one frame. Otherwise frame k of the video,
    shown at (k + 1/2) / fps, is taken from the two nearest latents, so the stage lags by one latent.
    """

    name = "decode"

    def __init__(self, decoder: FrameDecoder[Latents, OneFrame], fps: Fraction) -> None:
        self._decoder = decoder
        self._fps = fps
        self.residencies = decoder.residencies

    def open(self, reference: Conditioning) -> FrameClockState[OneFrame]:
        """State before the first piece."""
        return FrameClockState(self._decoder)

    def push(
        self,
        state: FrameClockState[OneFrame],
        piece: Piece[Latents],
        before_last_call: BeforeLastCall = nothing_follows,
    ) -> Iterator[Piece[Frame]]:
        """Frames whose latents are complete with this piece."""
        before_last_call()
        for latents in self._decoder.frames(piece.value):
            yield from self._advance(state, latents)

    def finish(self, state: FrameClockState[OneFrame]) -> Iterable[Piece[Frame]]:
        """Frames that begin before the last latent ends; it is held."""
        if state.last is None or self._fps == self._decoder.fps:
            return
        end = Fraction(state.seen) / self._decoder.fps
        while state.given / self._fps < end:
            yield self._give(state, state.last)

    def _advance(self, state: FrameClockState[OneFrame], latents: OneFrame) -> Iterator[Piece[Frame]]:
        previous, state.last = state.last, latents
        state.seen += 1
        if self._fps == self._decoder.fps:
            yield self._give(state, latents)
            return
        while (position := self._position(state.given)) <= state.seen - 1:
            weight = position - (state.seen - 2)  # latent j is the middle of its frame, at position j
            if previous is None or weight <= 0:
                yield self._give(state, latents if previous is None else previous)
            else:
                yield self._give(state, self._decoder.between(previous, latents, float(weight)))

    def _position(self, frame: int) -> Fraction:
        """Middle of frame `frame` of the video, counted in latents."""
        return Fraction(2 * frame + 1, 2) / self._fps * self._decoder.fps - Fraction(1, 2)

    def _give(self, state: FrameClockState[OneFrame], latents: OneFrame) -> Piece[Frame]:
        span = Span(state.given, state.given + 1)
        state.given += 1
        return Piece(span, self._decoder.render(latents))
