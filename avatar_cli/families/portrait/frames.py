"""The portrait renderer as the frame decoder of the decode stage."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from avatar_cli.families.portrait.decoder.renderer import PortraitRenderer
from avatar_cli.families.portrait.latents import FPS
from avatar_cli.families.portrait.lift import DenseMotion
from avatar_cli.families.portrait.reference import PortraitReference
from avatar_cli.runtime.residency import Residency
from avatar_cli.stages.values import Frame


class FrameMotion(NamedTuple):
    """Dense motion of one frame: mesh displacement [478, 3] and motion latents [21], float32."""

    mesh: NDArray[np.float32]
    latents: NDArray[np.float32]


class PortraitDecoder:
    """The decode stage's FrameDecoder: no network, all of it is a warp of the photo over a still scene."""

    residencies: tuple[Residency, ...] = ()
    fps: Fraction = FPS

    def __init__(self, reference: PortraitReference, scene: Frame) -> None:
        # Setting up takes as long as generating the first chunk and needs nothing of it: side by side.
        pool = ThreadPoolExecutor(1, thread_name_prefix="renderer-setup")
        self._renderer = pool.submit(PortraitRenderer, reference, scene)
        pool.shutdown(wait=False)

    def frames(self, latents: DenseMotion) -> list[FrameMotion]:
        """One entry a frame."""
        frames = zip(latents.mesh.numpy(), latents.latents.numpy(), strict=True)
        return [FrameMotion(*frame) for frame in frames]

    def between(self, before: FrameMotion, after: FrameMotion, weight: float) -> FrameMotion:
        """Linear in time."""
        pairs = zip(before, after, strict=True)
        return FrameMotion(*((old + np.float32(weight) * (new - old)) for old, new in pairs))

    def render(self, latents: FrameMotion) -> Frame:
        """RGB, uint8 [height, width, 3]."""
        return self._renderer.result().render(latents.mesh, latents.latents)

    def to_tensors(self, latents: FrameMotion) -> dict[str, Tensor]:
        """Copies, so that they do not keep the chunk alive."""
        return {name: torch.tensor(value) for name, value in latents._asdict().items()}

    def from_tensors(self, tensors: dict[str, Tensor]) -> FrameMotion:
        """Inverse of `to_tensors`."""
        return FrameMotion(tensors["mesh"].numpy(), tensors["latents"].numpy())
