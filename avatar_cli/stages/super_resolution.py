"""Super-resolution: low-resolution latents to high-resolution ones, in one step, aware of the person."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from torch import Tensor

from avatar_cli.runtime.residency import Residency
from avatar_cli.runtime.stage import BeforeLastCall, Piece, nothing_follows
from avatar_cli.stages.values import Conditioning

HighResolution_co = TypeVar("HighResolution_co", covariant=True)


class OneStepModel(Protocol[HighResolution_co]):
    """A family's super-resolution network, run for one Euler step."""

    @property
    def residencies(self) -> tuple[Residency, ...]:
        """The networks behind it."""

    def refine(self, piece: Piece[Tensor], conditioning: Conditioning) -> HighResolution_co:
        """High-resolution latents for the frames of `piece`, whose value is [n, C]."""


@dataclass
class IdentityState:
    """No memory from piece to piece: only the conditioning of the job."""

    conditioning: Conditioning

    def to_tensors(self) -> dict[str, Tensor]:
        """Nothing that changes."""
        return {}

    def load_tensors(self, tensors: dict[str, Tensor]) -> None:
        """Inverse of `to_tensors`."""


class SuperResolutionStage(Generic[HighResolution_co]):
    """Takes latents in order of emission (N0 I0 N1 I1 N2 ...)."""

    name = "sr"

    def __init__(self, model: OneStepModel[HighResolution_co]) -> None:
        self._model = model
        self.residencies = model.residencies

    def open(self, reference: Conditioning) -> IdentityState:
        """State before the first piece."""
        return IdentityState(reference)

    def push(
        self,
        state: IdentityState,
        piece: Piece[Tensor],
        before_last_call: BeforeLastCall = nothing_follows,
    ) -> Iterable[Piece[HighResolution_co]]:
        """High-resolution latents for the same frames."""
        before_last_call()
        yield Piece(piece.span, self._model.refine(piece, state.conditioning))

    def finish(self, state: IdentityState) -> Iterable[Piece[HighResolution_co]]:
        """Nothing is held back."""
        return ()
