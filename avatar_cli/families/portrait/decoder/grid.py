"""Coarse grids over a box of pixels, placed so that cv2.resize interpolates them exactly."""

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box


@dataclass(frozen=True)
class FieldGrid:
    """Nodes every `step` px over `box`, with a margin of half a cell to a cell and a half on every side.

    Positions to draw from are given in samples of the photo, `density` to a pixel (see `RefinedImage`).

    cv2.resize by the whole factor `step` puts node j at pixel (j + 0.5) step - 0.5; it is ten times faster
    than a general bilinear map and interpolates in single precision, so an upsampled 0 stays 0.
    """

    box: Box
    step: int
    density: int

    @property
    def columns(self) -> int:
        """Nodes along x."""
        return -(-self.box.width // self.step) + 2

    @property
    def rows(self) -> int:
        """Nodes along y."""
        return -(-self.box.height // self.step) + 2

    @cached_property
    def nodes(self) -> NDArray[np.float64]:
        """Pixel positions [rows * columns, 2] of the nodes on the canvas, row by row."""
        x = self.box.left + (np.arange(self.columns) - 0.5) * self.step - 0.5
        y = self.box.top + (np.arange(self.rows) - 0.5) * self.step - 0.5
        xx, yy = np.meshgrid(x, y)
        return np.stack([xx.ravel(), yy.ravel()], axis=1)

    @cached_property
    def pixels(self) -> NDArray[np.float32]:
        """Canvas positions [height, width, 2] of the pixels of the box, in samples."""
        positions = np.empty((self.box.height, self.box.width, 2), np.float32)
        positions[..., 0] = np.arange(self.box.left, self.box.right, dtype=np.float32)
        positions[..., 1] = np.arange(self.box.top, self.box.bottom, dtype=np.float32)[:, None]
        return positions * np.float32(self.density)

    def index_of(self, points: NDArray[np.floating]) -> NDArray[np.float32]:
        """Fractional node indices (column, row) of canvas positions [..., 2]."""
        return ((points - self.box.origin + 0.5) / self.step + 0.5).astype(np.float32)

    def node_rows(self, first_row: int, end_row: int) -> slice:
        """The rows of nodes that the pixel rows [first_row, end_row) of the box are interpolated from."""
        return slice(first_row // self.step, min(self.rows, -(-end_row // self.step) + 2))

    def source_map(self, backward: NDArray[np.float32], first_row: int, end_row: int) -> NDArray[np.float32]:
        """Source positions x - b(x) [end_row - first_row, width, 2] of pixel rows of the box, in samples.

        The displacement is upsampled, not the position: positions of a thousand pixels would lose the bits
        that keep an unmoved photo exact.

        Args:
            backward: b at `node_rows(first_row, end_row)`, px.
            first_row: First pixel row of the box.
            end_row: Row after the last one.
        """
        size = (self.columns * self.step, len(backward) * self.step)
        fine = cv2.resize(backward * np.float32(self.density), size, interpolation=cv2.INTER_LINEAR)
        skip = first_row - (first_row // self.step - 1) * self.step
        fine = fine[skip : skip + end_row - first_row, self.step : self.step + self.box.width]
        return np.asarray(cv2.subtract(self.pixels[first_row:end_row], fine), np.float32)

    def source_of_part(
        self, backward: NDArray[np.float32], part: Box, source: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Writes the source positions of a part of the box into theirs of `source` [height, width, 2].

        Args:
            backward: b at all nodes, px.
            part: Pixels of the box, from its own corner; it starts at multiples of the step.
            source: Source positions of the whole box, in samples.

        Returns:
            The part of `source` that was written.
        """
        step = self.step
        nodes = backward[
            part.top // step : -(-part.bottom // step) + 2, part.left // step : -(-part.right // step) + 2
        ]
        size = (nodes.shape[1] * step, nodes.shape[0] * step)
        fine = cv2.resize(nodes * np.float32(self.density), size, interpolation=cv2.INTER_LINEAR)
        fine = fine[step : step + part.height, step : step + part.width]
        target = source[part.inside]
        cv2.subtract(self.pixels[part.inside], fine, dst=target)
        return target
