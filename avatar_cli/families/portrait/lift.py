"""The SR DiT as the one-step model of the super-resolution stage."""

from dataclasses import dataclass

from torch import Tensor

from avatar_cli.runtime.residency import Residency
from avatar_cli.runtime.stage import Piece
from avatar_cli.stages.values import Conditioning


@dataclass(frozen=True)
class DenseMotion:
    """High-resolution latents: `mesh` [n, 478, 3] is the displacement of every landmark against the photo
    (e, canonical frame), `latents` [n, 21] the motion latents they were made from.
    """

    mesh: Tensor
    latents: Tensor


class MeshLifter:
    """Mouth distances and brows, lifted to the dense motion of this person's own mesh, frame by frame."""

    def __init__(self, dit: Residency) -> None:
        self._dit = dit
        self.residencies = (dit,)

    def refine(self, piece: Piece[Tensor], conditioning: Conditioning) -> DenseMotion:
        """One Euler step for every frame of the piece."""
        relative = piece.value - conditioning.rest
        mesh = self._dit.network(relative[None], conditioning.tokens)
        return DenseMotion(mesh[0], piece.value)
