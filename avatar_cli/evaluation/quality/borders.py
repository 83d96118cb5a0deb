"""Jumps at the borders of chunks, for the mouth, the upper face and the head."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.quality.curves import UPPER_MEASURES, FaceCurves
from avatar_cli.evaluation.seams import SeamFigures, chunk_borders, seam_figures

_BROWS = [UPPER_MEASURES.index(name) for name in ("brow_y", "lower_lid_y")]

FEWEST_BORDERS = 20  # by which shares of them can be judged: of six, a single jump is 17 %


@dataclass(frozen=True)
class ChunkLengths:
    """Frames of an N chunk and of the I chunk after it, at 25 frames/s."""

    frames: int
    interpolated: int


def border_figures(curves: FaceCurves, lengths: ChunkLengths) -> dict[str, SeamFigures]:
    """Jumps of position and velocity at chunk borders (`seams.seam_figures`) of `mouth`, `brows` and `pose`.

    In units of the 95th percentile of the same inside chunks: 5 % of the borders lie above it where borders
    are like any other frame. Empty where the video has no border; a part that never moves is left out.
    """
    borders = borders_of(curves, lengths)
    moving = {part: values for part, values in border_parts(curves).items() if np.ptp(values, axis=0).any()}
    return {part: seam_figures(values, borders) for part, values in moving.items()} if borders else {}


def borders_of(curves: FaceCurves, lengths: ChunkLengths) -> list[int]:
    """First frames of the chunks of a video."""
    return chunk_borders(len(curves) - 1, lengths.frames, lengths.interpolated)


def border_parts(curves: FaceCurves) -> dict[str, NDArray[np.float32]]:
    """The parts of a face that are judged each by itself, [T, C] each."""
    return {"mouth": curves.mouth, "brows": curves.upper[:, _BROWS], "pose": curves.pose}
