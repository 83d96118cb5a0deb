"""The inside of a mouth that a picture shows, parted into what the skull carries and what the jaw does."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.decoder.lips import LIP_CURVE
from avatar_cli.families.portrait.decoder.masks import blend
from avatar_cli.families.portrait.decoder.opening import Opening
from avatar_cli.families.portrait.decoder.sampling import sample, warp_affine
from avatar_cli.families.portrait.decoder.spline import smoothstep
from avatar_cli.families.portrait.geometry import Pose
from avatar_cli.families.portrait.landmarks import INNER_LOWER_LIP, INNER_UPPER_LIP

_INSET = 0.012  # e: the lips' own soft edge
_CONTINUED = 0.16  # e beyond the opening
_FADE_BESIDE = 0.08  # e: the corners of a mouth that grows wider are dark
_FADE_ABOVE_LOWER = 0.05  # e
_EDGE = 0.010  # e, softness of the biting edge
_TIPS = 0.015  # e
_SMALLEST = 12  # px of opening below which nothing is to be seen in it
_HIDDEN = 0.008  # e of tooth that a lower lip in front of it hides and more opening shows
_LEAST_CONTRAST = 0.12  # of the light, from teeth to what is dark below them
_USUAL_BEND = 0.025  # e from the middle to the corners
_UNUSUAL = 40.0
_SHORTEST = 0.015  # e
_SEEN_EDGE = 0.4  # of the middle of the mouth
_TEETH_COLUMNS = 0.2  # of the mouth's width: fewer are highlights on a tongue
_LOWER_HEIGHT = 0.03  # e of tongue and lower teeth, in ...
_LOWER_COLUMNS = 0.3  # ... so much of the mouth's width, are worth keeping


@dataclass(frozen=True)
class Sight:
    """A picture of a face with an open mouth.

    Attributes:
        image: uint8 [H, W, 3], RGB.
        points: float64 [478, 2], mesh, px.
        pose: Canonical frame to `image`; its scale is px of 1 e.
        seam: float64 [3], the middle of the upper lip's edge in the canonical frame.
        size: Mouth width over the standard one.
        lip: float [3], RGB of the lips in `image`.
        tooth: float [3], RGB expected of teeth in `image`.
    """

    image: NDArray[np.uint8]
    points: NDArray[np.float64]
    pose: Pose
    seam: NDArray[np.float64]
    size: float
    lip: NDArray[np.float64]
    tooth: NDArray[np.float64]


@dataclass(frozen=True)
class Layer:
    """A part of the mouth's inside that moves as a rigid body.

    Attributes:
        picture: uint8 [h, w, 4], RGB and coverage; its colours go on beyond what was seen.
        origin: Its top left pixel (x, y) in the picture it is from.
        pose: Pose of the face in that picture.
        anchor: float64 [3], canonical place that keeps its pixel.
    """

    picture: NDArray[np.uint8]
    origin: NDArray[np.floating]
    pose: Pose
    anchor: NDArray[np.float64]

    def draw(
        self,
        below: NDArray[np.uint8],
        origin: NDArray[np.floating],
        pose: Pose,
        moved: NDArray[np.floating],
        strength: float = 1.0,
    ) -> NDArray[np.uint8]:
        """`below` [h, w, 4], whose top left pixel is `origin`, under this layer after `moved` [3], e.

        `strength` 0..1 thins the layer.
        """
        seen = self.pose
        linear = (pose.scale * pose.rotation[:2, :2]) @ np.linalg.inv(seen.scale * seen.rotation[:2, :2])
        before, after = seen.to_pixels(self.anchor)[:2], pose.to_pixels(self.anchor + moved)[:2]
        shift = after - origin - linear @ (before - self.origin)
        transform = np.column_stack([linear, shift])
        placed = warp_affine(self.picture, transform, below.shape[1], below.shape[0], cv2.BORDER_REPLICATE)
        cover = placed[..., 3]
        if strength < 1.0:
            cover = (cover * np.float32(strength)).astype(np.uint8)
        return blend(below, placed, cover)


@dataclass(frozen=True)
class InteriorLayers:
    """What a picture shows between the lips; None where it shows nothing.

    Attributes:
        upper: Upper teeth, rigid with the skull.
        lower: Tongue and lower teeth, rigid with the jaw.
        gap: How far the mouth is open in the picture, e.
    """

    upper: Layer | None
    lower: Layer | None
    gap: float


NOTHING_SEEN = InteriorLayers(None, None, 0.0)


@dataclass(frozen=True)
class _Upright:
    """Coordinates of a patch along the mouth and down the face, px.

    Attributes:
        along: [h, w], of every pixel of the patch.
        down: [h, w].
        columns: [U], places along the mouth at which edges are measured.
        edge: [U], where the upper teeth end.
        is_tooth: bool [U], whether teeth are seen there.
    """

    along: NDArray[np.floating]
    down: NDArray[np.floating]
    columns: NDArray[np.floating]
    edge: NDArray[np.floating]
    is_tooth: NDArray[np.bool_]

    def below_edge(self) -> NDArray[np.floating]:
        """[h, w], how far every pixel lies below the biting edge, px."""
        return self.down - np.interp(self.along, self.columns, self.edge)

    def beside(self, seen: NDArray[np.floating]) -> NDArray[np.floating]:
        """[h, w], how far every pixel lies left or right of the places `seen`, px."""
        return np.maximum(np.maximum(seen.min() - self.along, self.along - seen.max()), 0.0)


def interior_layers(sight: Sight, limits: Box) -> InteriorLayers:
    """The layers of what `sight` shows between the lips, inside the box `limits` of its picture."""
    opening, known = _seen_opening(sight, limits)
    if np.count_nonzero(known) < _SMALLEST:
        return NOTHING_SEEN
    box = opening.box
    source = np.ascontiguousarray(sight.image[box.inside])
    upright = _measured(sight, opening, source, known)
    return InteriorLayers(
        _upper_layer(sight, box, source, known, upright),
        _lower_layer(sight, box, source, known, upright),
        opening.widest / sight.pose.scale,
    )


def shown_upper_teeth(sight: Sight) -> float | None:
    """How far the upper teeth of `sight` reach below the middle of the upper lip, e; None without any."""
    rows, columns = sight.image.shape[:2]
    opening, known = _seen_opening(sight, Box(0, 0, columns, rows))
    if np.count_nonzero(known) < _SMALLEST:
        return None
    upright = _measured(sight, opening, np.ascontiguousarray(sight.image[opening.box.inside]), known)
    if np.mean(upright.is_tooth) < _TEETH_COLUMNS:
        return None
    along = opening.along
    lip = opening.upper[len(opening.upper) // 2] - opening.box.origin
    edge = np.interp(lip @ along, upright.columns, upright.edge)
    return float(edge - lip @ np.array([-along[1], along[0]])) / sight.pose.scale


def _seen_opening(sight: Sight, limits: Box) -> tuple[Opening, NDArray[np.bool_]]:
    """The opening of `sight`, and of its box the pixels that are not the lips' own soft edge."""
    unit = sight.pose.scale
    upper = LIP_CURVE @ sight.points[list(INNER_UPPER_LIP)]
    lower = LIP_CURVE @ sight.points[list(INNER_LOWER_LIP)]
    box = _around(np.concatenate([upper, lower]), int(_CONTINUED * unit) + 2, limits)
    opening = Opening(upper, lower, box)
    inset = max(1, round(_INSET * unit))
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * inset + 1, 2 * inset + 1))
    return opening, np.asarray(cv2.erode(opening.mask(), disc), np.uint8) > 127


def _upper_layer(
    sight: Sight, box: Box, source: NDArray[np.uint8], known: NDArray[np.bool_], upright: _Upright
) -> Layer | None:
    if np.mean(upright.is_tooth) < _TEETH_COLUMNS:
        return None
    unit = sight.pose.scale
    below = upright.below_edge()
    # Only teeth are left to continue from: lips and tongue would tint them.
    picture = _continued(source, known & (below < -0.004 * unit))
    soft = max(1.0, _EDGE * unit)
    cover = np.clip(0.5 - below / soft, 0.0, 1.0)
    beside = upright.beside(upright.columns[upright.is_tooth]) / unit
    cover = cover * (1 - smoothstep(0.0, _FADE_BESIDE, beside))
    return Layer(_with_cover(picture, cover), box.origin, sight.pose, sight.seam)


def _lower_layer(
    sight: Sight, box: Box, source: NDArray[np.uint8], known: NDArray[np.bool_], upright: _Upright
) -> Layer | None:
    unit = sight.pose.scale
    below = upright.below_edge()
    # Not the tips of the upper teeth: they would move with the jaw.
    seen = known & (below > _TIPS * unit)
    tall = seen.sum(axis=0) > _LOWER_HEIGHT * unit
    if np.count_nonzero(tall) < _LOWER_COLUMNS * np.count_nonzero(known.any(axis=0)):
        return None
    picture = _continued(source, seen)
    cover = smoothstep(-_FADE_ABOVE_LOWER * unit, 0.0, below)
    beside = upright.beside(upright.along[seen]) / unit
    cover = cover * (1 - smoothstep(0.0, _FADE_BESIDE, beside))
    return Layer(_with_cover(picture, cover), box.origin, sight.pose, sight.seam)


def _measured(
    sight: Sight, opening: Opening, source: NDArray[np.uint8], known: NDArray[np.bool_]
) -> _Upright:
    """Finds the biting edge of the upper teeth from corner to corner."""
    unit = sight.pose.scale
    along, box = opening.along, opening.box
    down = np.array([-along[1], along[0]])
    y, x = np.mgrid[0 : box.height, 0 : box.width]
    u, v = x * along[0] + y * along[1], x * down[0] + y * down[1]
    columns = np.arange(np.ceil(u[known].min()), u[known].max() + 0.5)
    rows = np.arange(np.floor(v[known].min()), v[known].max() + 1.5)
    places = columns[None, :, None] * along + rows[:, None, None] * down
    colours = sample(source, places).astype(np.float64)
    inside = sample(known.astype(np.float32), places, cv2.BORDER_CONSTANT) > 0.5
    inside[:, ~inside.any(axis=0)] = True
    strip = _Strip(
        colours=np.asarray(cv2.GaussianBlur(colours, (0, 0), max(0.6, 0.005 * unit)), np.float64),
        inside=inside,
        first=inside.argmax(axis=0),
        last=len(rows) - 1 - inside[::-1].argmax(axis=0),
        unit=unit,
    )
    edge, contrast = _biting_edge(strip)
    hidden = contrast < _LEAST_CONTRAST
    if hidden:
        edge = strip.last.astype(np.float64)
    is_tooth = strip.looks_like_tooth(sight, edge)
    if hidden and is_tooth.any():
        # The lower lip is in front of the edge; its curve is that of the teeth or nearly so.
        middle = np.linspace(-1.0, 1.0, len(columns))
        curve = np.polynomial.Polynomial.fit(middle[is_tooth], edge[is_tooth], min(2, is_tooth.sum() - 1))
        edge = curve(middle) + (_INSET + _HIDDEN) * unit
    return _Upright(u, v, columns, rows[0] + edge, is_tooth)


@dataclass(frozen=True)
class _Strip:
    """The opening, turned upright.

    Attributes:
        colours: [rows, columns, 3], RGB.
        inside: bool [rows, columns], where the lips are apart.
        first: int [columns], first row of the opening.
        last: int [columns], last row of the opening.
        unit: px of 1 e.
    """

    colours: NDArray[np.floating]
    inside: NDArray[np.bool_]
    first: NDArray[np.intp]
    last: NDArray[np.intp]
    unit: float

    def looks_like_tooth(self, sight: Sight, edge: NDArray[np.floating]) -> NDArray[np.bool_]:
        """Whether the lightest place above `edge` is as light as teeth and paler than the lips, [columns]."""
        lightest = self._lightest_above(edge)
        light = lightest[:, 1] > 0.55 * np.percentile(self.colours[..., 1][self.inside], 95)
        redness = lightest[:, 1] / np.maximum(lightest[:, 0], 1.0)
        of_lip, of_tooth = (colour[1] / max(colour[0], 1.0) for colour in (sight.lip, sight.tooth))
        if of_tooth - of_lip < 0.08:  # a picture without colour tells by brightness alone
            return np.asarray(light & (lightest[:, 1] > sight.lip[1]))
        return np.asarray(light & (redness > of_lip + 0.25 * (of_tooth - of_lip)))

    def _lightest_above(self, edge: NDArray[np.floating]) -> NDArray[np.floating]:
        """[columns, 3], the lightest colour above `edge`."""
        rows = np.arange(len(self.colours))[:, None]
        above = self.inside & (rows <= np.maximum(edge, self.first + 1))
        green = np.where(above, self.colours[..., 1], 0.0)
        return self.colours[green.argmax(axis=0), np.arange(len(edge))]


def _biting_edge(strip: _Strip) -> tuple[NDArray[np.float64], float]:
    """Rows [columns] of the parabola with the greatest step from light above to dark below it, and that step.

    The step is a share of the light, 0 where no edge can be seen. One smooth curve for the whole row: an edge
    traced from pixel to pixel has the picture's noise for fangs.
    """
    unit, green = strip.unit, strip.colours[..., 1]
    count = len(strip.first)
    middle = np.linspace(-1.0, 1.0, count)
    chosen = np.unique(np.linspace(0, count - 1, 48).astype(int))
    x, first, last = middle[chosen], strip.first[chosen], strip.last[chosen]
    weight = np.exp(-((x / 0.6) ** 2))
    weight /= weight.sum()
    tallest = float((last - first).max())
    reach = max(1.0, min(0.014 * unit, 0.2 * tallest))
    heights = np.arange(first.min() + 2 * reach, last.max() + 1, max(1.0, 0.006 * unit))
    if len(heights) == 0:  # a slit has no room for light above dark
        return last.max() * np.ones(count), 0.0
    bends = np.arange(-0.01, 0.095, 0.015) * unit
    tilts = np.arange(-0.03, 0.035, 0.015) * unit
    height, bend, tilt = (a.reshape(-1, 1) for a in np.meshgrid(heights, bends, tilts, indexing="ij"))
    edges = height - bend * x**2 + tilt * x
    # Beside them the lips cover the teeth: there an edge may be, but is not seen.
    seen = weight * ((edges - reach >= first) & (edges + reach <= last))
    above = np.clip(np.round(edges - reach), first, last).astype(int)
    below = np.clip(np.round(edges + reach), first, last).astype(int)
    light, dark = (seen * green[above, chosen]).sum(axis=1), (seen * green[below, chosen]).sum(axis=1)
    steps = np.where(seen.sum(axis=1) > _SEEN_EDGE, (light - dark) / np.maximum(light, 1e-6), 0.0)
    steps -= _UNUSUAL * (((bend - _USUAL_BEND * unit) / unit) ** 2 + 3 * (tilt / unit) ** 2).sum(axis=1)
    steps[edges[:, len(x) // 2] < first[len(x) // 2] + min(_SHORTEST * unit, 0.35 * tallest)] = 0.0
    best = int(steps.argmax())
    curve = height[best] - bend[best] * middle**2 + tilt[best] * middle
    return np.asarray(curve, np.float64), float(steps[best])


def _continued(source: NDArray[np.uint8], known: NDArray[np.bool_]) -> NDArray[np.uint8]:
    return np.asarray(cv2.inpaint(source, (~known).astype(np.uint8), 3, cv2.INPAINT_TELEA), np.uint8)


def _with_cover(picture: NDArray[np.uint8], cover: NDArray[np.floating]) -> NDArray[np.uint8]:
    return np.dstack([picture, np.round(255 * cover).astype(np.uint8)])


def _around(points: NDArray[np.floating], room: int, limits: Box) -> Box:
    """The part of `limits` within `room` px of `points` [N, 2]."""
    left, top = np.floor(points.min(axis=0)).astype(int) - room
    right, bottom = np.ceil(points.max(axis=0)).astype(int) + room + 1
    return Box(
        max(int(left), limits.left),
        max(int(top), limits.top),
        min(int(right), limits.right),
        min(int(bottom), limits.bottom),
    )
