"""The SR DiT as the one-step model of the super-resolution stage."""

from dataclasses import dataclass

from torch import Tensor

from avatar_cli.families.portrait.latents import CHANNELS
from avatar_cli.runtime.residency import Residency
from avatar_cli.runtime.stage import Piece
from avatar_cli.stages.values import Conditioning

# How the landmark network reads two distances of a drawn mouth: its share of what is drawn, and what it takes
# for them of other distances. Latents are such readings of real people, so a picture that repeats them has to
# show what is read as them. Fitted by `training/reading.py`. A gap is read as drawn; the other distances are
# left as they are: their motion is small, and drawing several times of it would distort the lips.
_READ = {
    "jaw_drop": {"jaw_drop": 0.75, "gap": 0.10},
    "width": {"width": 0.72, "gap": 0.20, "corner_y": -0.23},
}


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
        relative = drawn_latents(piece.value - conditioning.rest)
        mesh = self._dit.network(relative[None], conditioning.tokens)
        return DenseMotion(mesh[0], piece.value)


def drawn_latents(relative: Tensor) -> Tensor:
    """What to draw for the landmark network to read `relative`, both [..., 21] and against the photo."""
    drawn = relative.clone()
    for name, shares in _READ.items():
        own = CHANNELS.index(name)
        for other, share in shares.items():
            if other != name:
                drawn[..., own] -= share * relative[..., CHANNELS.index(other)]
        drawn[..., own] /= shares[name]
    return drawn
