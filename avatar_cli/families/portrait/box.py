"""A rectangle of whole pixels."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Box:
    """Pixels left <= x < right, top <= y < bottom; a box may reach beyond the canvas."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """Columns."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """Rows."""
        return self.bottom - self.top

    @property
    def origin(self) -> NDArray[np.float32]:
        """Top left pixel (x, y)."""
        return np.array([self.left, self.top], np.float32)

    @property
    def inside(self) -> tuple[slice, slice]:
        """Rows and columns, as an index of the canvas."""
        return slice(self.top, self.bottom), slice(self.left, self.right)
