"""Where the picture cuts the head, its edge stays: nothing is known of what a nod would bring into view."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.decoder.face_frame import SKIN_POINTS, FaceFrame
from avatar_cli.families.portrait.decoder.grid import FieldGrid

# Motion away from an edge grows from none to all of it over this many times itself: hair is drawn out to at
# most 5/3 of its length.
_REACH = 3.0
_NO_MOTION = np.float32(1e-3)  # px
_IN = np.float32(1)
_X, _Y = 0, 1


@dataclass(frozen=True)
class _Edge:
    """One edge that cuts the head.

    Attributes:
        axis: Of the motion across it.
        inward: Sign of that motion away from it.
        room: float32 [rows, 1] or [1, columns], how far the nodes lie inside, px.
        reach: px to the face, which is not held itself.
    """

    axis: int
    inward: np.float32
    room: NDArray[np.float32]
    reach: np.float32


class HeldEdges:
    """The edges of the canvas that cut the moving layer."""

    def __init__(self, face: FaceFrame, grid: FieldGrid, opacity: NDArray[np.uint8]) -> None:
        """Look which edges of the canvas cut the layer of this opacity [H, W] inside the grid's box."""
        box = grid.box
        rows, columns = opacity.shape
        last = np.array([columns - 1, rows - 1], np.float32)
        x = grid.nodes[: grid.columns, _X].astype(np.float32)[None, :]
        y = grid.nodes[:: grid.columns, _Y].astype(np.float32)[:, None]
        mesh = face.points[:SKIN_POINTS]
        to_low, to_high = (
            np.maximum(room, grid.step).astype(np.float32)
            for room in (mesh.min(axis=0), last - mesh.max(axis=0))
        )
        across, down = slice(box.left, box.right), slice(box.top, box.bottom)
        candidates = (
            (box.left == 0, opacity[down, 0], _Edge(_X, _IN, x, to_low[_X])),
            (box.top == 0, opacity[0, across], _Edge(_Y, _IN, y, to_low[_Y])),
            (box.right == columns, opacity[down, -1], _Edge(_X, -_IN, last[_X] - x, to_high[_X])),
            (box.bottom == rows, opacity[-1, across], _Edge(_Y, -_IN, last[_Y] - y, to_high[_Y])),
        )
        self._edges = [edge for is_reached, cut, edge in candidates if is_reached and cut.any()]
        self._margin = np.float32(grid.step / 2)  # the outermost pixels lie up to this far outside a node

    def hold(self, field: NDArray[np.float32]) -> None:
        """Take from a forward field [rows, columns, 2] (px) what would draw from beyond these edges."""
        for edge in self._edges:
            motion = field[..., edge.axis]
            inward = np.maximum(motion * edge.inward, 0)
            reach = np.clip(_REACH * inward, _NO_MOTION, edge.reach)
            share = np.clip((edge.room - self._margin) / reach, 0, 1)
            motion -= edge.inward * inward * (1 - share) ** 2
