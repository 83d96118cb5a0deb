"""Patches of the face around an opening, cut into an upper and a lower sheet that move on their own."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.decoder.grid import FieldGrid
from avatar_cli.families.portrait.decoder.inversion import invert_displacement
from avatar_cli.families.portrait.decoder.masks import Ellipse, Mask, blend, polygon_mask
from avatar_cli.families.portrait.decoder.photo import RefinedImage
from avatar_cli.families.portrait.decoder.sampling import sample
from avatar_cli.families.portrait.decoder.spline import smoothstep

_NEWTON_STEPS = 6
_FEATHER = 7  # px, softens the border of a pasted patch
_LIMIT_BLUR = 0.8  # px
_CORE = 0.62  # of the ellipse: inside it a sheet moves on its own, at its border like the whole head


@dataclass(frozen=True)
class SlitShape:
    """Where a slit lies in the photo.

    Attributes:
        centre: float64 [2], px.
        along: float64 [2], unit vector from its left corner to its right one.
        length: corner to corner, px.
        radii: px, half axes of the ellipse in which the sheets differ from the common field.
        room: px (left, top, right, bottom) by which the moved patch may outgrow the ellipse.
        step: px between the nodes of its grid.
    """

    centre: NDArray[np.float64]
    along: NDArray[np.float64]
    length: float
    radii: tuple[float, float]
    room: tuple[float, float, float, float]
    step: int

    @property
    def across(self) -> NDArray[np.float64]:
        """Unit vector from the upper edge to the lower one."""
        return np.array([-self.along[1], self.along[0]])


@dataclass(frozen=True)
class Placement:
    """Where the patch of one frame lands: its box moved by whole pixels."""

    shift: NDArray[np.int64]  # (x, y)
    box: Box


class SlitPatch:
    """The grid of one slit, its ellipse, and the steps from two forward fields to one picture."""

    def __init__(self, shape: SlitShape, head_grid: FieldGrid) -> None:
        """Prepare the patch inside the grid of the common field."""
        self.shape = shape
        across = shape.across
        radius_x, radius_y = shape.radii
        reach_x = np.hypot(shape.along[0] * radius_x, across[0] * radius_y)
        reach_y = np.hypot(shape.along[1] * radius_x, across[1] * radius_y)
        left, top, right, bottom = shape.room
        x, y = shape.centre
        self.box = Box(
            left=int(np.floor(x - reach_x - left)),
            top=int(np.floor(y - reach_y - top)),
            right=int(np.ceil(x + reach_x + right)),
            bottom=int(np.ceil(y + reach_y + bottom)),
        )
        self.grid = FieldGrid(self.box, shape.step, head_grid.density)
        offset = self.grid.nodes - shape.centre
        radius = np.hypot(offset @ shape.along / radius_x, offset @ across / radius_y)
        size = (self.grid.rows, self.grid.columns)
        self.weight = (1 - smoothstep(_CORE, 1.0, radius)).reshape(*size, 1).astype(np.float32)
        self._head_indices = head_grid.index_of(self.grid.nodes).reshape(*size, 2)

    def common(self, head_displacement: NDArray[np.float32]) -> NDArray[np.float32]:
        """The common field at the nodes of the patch [rows, columns, 2], px."""
        return sample(head_displacement, self._head_indices)

    def place(self, mean_displacement: NDArray[np.floating]) -> Placement:
        """Let the patch travel with the face: a patch that stood still would cut a moved mouth."""
        shift = np.round(mean_displacement).astype(np.int64)
        x, y = int(shift[0]), int(shift[1])
        box = Box(self.box.left + x, self.box.top + y, self.box.right + x, self.box.bottom + y)
        return Placement(shift, box)

    def below(self, curve: NDArray[np.floating], along: NDArray[np.floating], blur: float) -> Mask:
        """Mask of everything below `curve` [N, 2] (patch px), extended straight beyond its ends."""
        far = 4 * self.shape.length
        down = np.array([-along[1], along[0]]) * far
        outward = along * far
        border = [
            curve[0] - outward,
            *curve,
            curve[-1] + outward,
            curve[-1] + outward + down,
            curve[0] - outward + down,
        ]
        return polygon_mask(np.array(border), self.box.height, self.box.width, blur)

    def picture(
        self,
        photo: RefinedImage,
        fields: tuple[NDArray[np.float32], NDArray[np.float32]],
        placement: Placement,
        lower_mask: Mask,
    ) -> NDArray[np.uint8]:
        """Draw the photo through the upper and lower forward fields, px; uint8 [h, w, 4].

        The lower sheet is seen where `lower_mask` is 255. Of each sheet only the visible rows are drawn.
        """
        shift = placement.shift.astype(np.float32)
        rows = len(lower_mask)
        with_upper = np.flatnonzero(lower_mask.min(axis=1) < 255)
        with_lower = np.flatnonzero(lower_mask.max(axis=1) > 0)
        end_upper = int(with_upper[-1]) + 1 if len(with_upper) else 0
        first_lower = int(with_lower[0]) if len(with_lower) else rows
        picture = np.empty((rows, self.box.width, 4), np.uint8)
        if end_upper > 0:
            picture[:end_upper] = self._sheet(photo, fields[0] - shift, 0, end_upper)
        if first_lower < rows:
            lower = self._sheet(photo, fields[1] - shift, first_lower, rows)
            shared = end_upper - first_lower
            if shared > 0:
                mixed = slice(first_lower, end_upper)
                picture[mixed] = blend(picture[mixed], lower[:shared], lower_mask[mixed])
            picture[max(end_upper, first_lower) :] = lower[max(shared, 0) :]
        return picture

    def _sheet(
        self, photo: RefinedImage, forward: NDArray[np.float32], first_row: int, end_row: int
    ) -> NDArray[np.uint8]:
        grid = self.grid
        rows = grid.node_rows(first_row, end_row)
        backward = invert_displacement(forward, grid.step, _NEWTON_STEPS, rows)
        source = grid.source_map(backward, first_row, end_row)
        return photo.draw(source)

    def paste(
        self,
        target: NDArray[np.uint8],
        target_box: Box,
        picture: NDArray[np.uint8],
        placement: Placement,
        ellipse: Ellipse,
        limit: NDArray[np.float64] | None = None,
    ) -> None:
        """Blend the picture into `target` inside an ellipse, and inside the outline `limit`, canvas px.

        Outside it both sheets equal the common field. Whole boxes must not be pasted: those of the two eyes
        overlap, and one eye would undo the other's blink.
        """
        box = placement.box
        reach = max(ellipse.radii) + _FEATHER
        x, y = ellipse.centre
        left = max(box.left, target_box.left, int(x - reach))
        top = max(box.top, target_box.top, int(y - reach))
        right = min(box.right, target_box.right, int(x + reach) + 1)
        bottom = min(box.bottom, target_box.bottom, int(y + reach) + 1)
        if left >= right or top >= bottom:
            return
        inside = (slice(top - box.top, bottom - box.top), slice(left - box.left, right - box.left))
        mask = ellipse.moved(np.array([-left, -top])).mask(bottom - top, right - left)
        mask = np.asarray(cv2.blur(mask, (_FEATHER, _FEATHER)), np.uint8)
        if limit is not None:
            inner = polygon_mask(limit - [left, top], bottom - top, right - left, _LIMIT_BLUR)
            mask = np.minimum(mask, inner)
        region = target[
            top - target_box.top : bottom - target_box.top, left - target_box.left : right - target_box.left
        ]
        region[...] = blend(region, picture[inside], mask)
