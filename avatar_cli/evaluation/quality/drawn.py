"""Any motion drawn onto a photo as the product draws its own: by the second network and the renderer."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import torch
from numpy.typing import NDArray

from avatar_cli.evaluation.quality.dense import load_mesh_dit
from avatar_cli.families.portrait.decoder.renderer import PortraitRenderer
from avatar_cli.families.portrait.person_mask import PersonMasker
from avatar_cli.families.portrait.reference import PortraitReference, encode_reference
from avatar_cli.families.portrait.sr_dit import MeshDiT
from avatar_cli.families.portrait.tracker import FaceTracker
from avatar_cli.media.background import load_background
from avatar_cli.media.decoding import Image
from avatar_cli.media.image_in import load_photo
from avatar_cli.protocol.job import Picture


@dataclass(frozen=True)
class Portrait:
    """A photo that can be moved.

    Attributes:
        reference: What the product keeps of it.
        renderer: Draws it.
        network: The second network.
    """

    reference: PortraitReference
    renderer: PortraitRenderer
    network: MeshDiT

    @property
    def tokens(self) -> torch.Tensor:
        """Reference tokens, float32 [1, 128, 12]."""
        return torch.from_numpy(self.reference.tokens)[None]

    def draw(self, latents: NDArray[np.float32]) -> Iterator[Image]:
        """A frame, uint8 [H, W, 3] RGB, for each row of motion latents [T, 21]; not coded as a video."""
        cv2.setNumThreads(1)  # as the renderer wants it
        relative = torch.from_numpy(latents - self.reference.rest)[None]
        with torch.no_grad():
            meshes = self.network(relative, self.tokens)[0].numpy()
        for mesh, row in zip(meshes, latents, strict=True):
            yield self.renderer.render(mesh, row)


def load_portrait(photo: Path, picture: Picture) -> Portrait:
    """The photo on the canvas of a job."""
    scene = load_background(picture.background, picture.width, picture.height)
    found = load_photo(photo, (picture.width, picture.height))
    reference = encode_reference(found, scene, picture, FaceTracker(), PersonMasker())
    return Portrait(reference, PortraitRenderer(reference, scene), load_mesh_dit())
