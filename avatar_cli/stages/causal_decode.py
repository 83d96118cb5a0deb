"""Decode by a causal network: each latent becomes some frames, with a memory of the latents before it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor

from avatar_cli.runtime.residency import Residency
from avatar_cli.runtime.span import Span
from avatar_cli.runtime.stage import BeforeLastCall, Piece, nothing_follows
from avatar_cli.stages.values import Conditioning, Frame

Latents = TypeVar("Latents")
Latents_contra = TypeVar("Latents_contra", contravariant=True)
Memory = tuple[Tensor, ...]


class CausalDecoder(Protocol[Latents_contra]):
    """A family's decoder that remembers; frames are at the video's own frame rate."""

    @property
    def residencies(self) -> tuple[Residency, ...]:
        """The networks behind it."""

    def open(self) -> Memory:
        """The memory before the first latent."""

    def latents(self, piece: Latents_contra) -> Iterable[Tensor]:
        """The latents of a piece, each to be decoded by itself."""

    def decode(self, latent: Tensor, memory: Memory) -> tuple[list[Frame], Memory]:
        """The frames of one latent, fresh arrays uint8 [height, width, 3], and the memory after it."""


@dataclass
class CausalState:
    """Rolling state: what the decoder remembers, and the number of frames given out."""

    memory: Memory
    given: int = 0

    def to_tensors(self) -> dict[str, Tensor]:
        """The memory layer by layer, and the counter."""
        layers = {f"memory.{number}": layer for number, layer in enumerate(self.memory)}
        return {**layers, "given": torch.tensor(self.given)}

    def load_tensors(self, tensors: dict[str, Tensor]) -> None:
        """Inverse of `to_tensors`, in place; the memory goes to the device where it was."""
        self.given = int(tensors["given"])
        self.memory = tuple(
            tensors[f"memory.{number}"].to(layer.device) for number, layer in enumerate(self.memory)
        )


class CausalDecodeStage(Generic[Latents]):
    """Takes high-resolution latents in order of emission and gives frames, lazily."""

    name = "decode"

    def __init__(self, decoder: CausalDecoder[Latents]) -> None:
        self._decoder = decoder
        self.residencies = decoder.residencies

    def open(self, reference: Conditioning) -> CausalState:
        """State before the first piece."""
        return CausalState(self._decoder.open())

    def push(
        self,
        state: CausalState,
        piece: Piece[Latents],
        before_last_call: BeforeLastCall = nothing_follows,
    ) -> Iterator[Piece[Frame]]:
        """All frames of a piece, decoded one latent at a time."""
        before_last_call()
        for latent in self._decoder.latents(piece.value):
            frames, state.memory = self._decoder.decode(latent, state.memory)
            for frame in frames:
                span = Span(state.given, state.given + 1)
                state.given += 1
                yield Piece(span, frame)

    def finish(self, state: CausalState) -> Iterable[Piece[Frame]]:
        """Nothing is held back."""
        return ()
