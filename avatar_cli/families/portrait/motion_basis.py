"""The linear articulatory basis: motion latents to a displacement of the whole face mesh."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from avatar_cli.assets import asset_path
from avatar_cli.families.portrait.latents import CHANNELS, MOUTH
from avatar_cli.protocol.errors import EnvironmentProblem

Floats = NDArray[np.float32]

ASSET = "portrait/motion_basis.safetensors"
# Lids and gaze belong to the decoder, which closes the eyes along the person's own lid lines and moves the
# irises, and head pose is rigid: those channels move no vertex here.
BASIS_CHANNELS = (*MOUTH, "brow_raise", "brow_lower")
BASIS_COLUMNS = tuple(CHANNELS.index(name) for name in BASIS_CHANNELS)


@dataclass(frozen=True)
class MotionBasis:
    """What the tracked clips say about faces in general, in the canonical frame.

    Attributes:
        shape: float32 [478, 3], symmetric mean face, e.
        mirror: int64 [478], the landmark on the other side of the face.
        vectors: float32 [11, 478, 3]: displacement of the mesh (e) per unit of each of `BASIS_CHANNELS`.
    """

    shape: Floats
    mirror: NDArray[np.int64]
    vectors: Floats

    def displacement(self, latents: NDArray) -> Floats:
        """Motion latents [..., 21] to the mesh displacement [..., 478, 3] they say in the mean, e."""
        return np.tensordot(latents[..., list(BASIS_COLUMNS)], self.vectors, axes=1).astype(np.float32)

    def save(self, path: Path) -> None:
        """Writes a safetensors file."""
        save_file({name: np.ascontiguousarray(value) for name, value in vars(self).items()}, path)


def load_motion_basis(path: Path | None = None) -> MotionBasis:
    """Reads the embedded basis, or the one in `path`. Raises EnvironmentProblem: missing or damaged."""
    path = path or asset_path(ASSET)
    try:
        return MotionBasis(**load_file(path))
    except SafetensorError as error:
        raise EnvironmentProblem(f"{path} is damaged ({error}): install avatar again.") from error
