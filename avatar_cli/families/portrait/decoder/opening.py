"""The opening between the lips."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.decoder.masks import Mask, polygon_mask


@dataclass(frozen=True)
class Opening:
    """The opening between the lips in one picture.

    Attributes:
        upper: float [N, 2], curve of the inner upper lip, px.
        lower: float [N, 2], curve of the inner lower lip, px.
        box: Box around it with room for the shading.
    """

    upper: NDArray[np.floating]
    lower: NDArray[np.floating]
    box: Box

    @property
    def widest(self) -> float:
        """Largest distance of the two curves, px."""
        return float(np.linalg.norm(self.upper - self.lower, axis=1).max())

    @property
    def along(self) -> NDArray[np.floating]:
        """Unit vector from the left corner of the mouth to the right one, [2]."""
        corners = self.lower[-1] - self.lower[0]
        return corners / np.linalg.norm(corners)

    def mask(self) -> Mask:
        """255 between the lips, over `box`."""
        outline = np.concatenate([self.upper, self.lower[::-1]]) - self.box.origin
        return polygon_mask(outline, self.box.height, self.box.width)
