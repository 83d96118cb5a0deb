"""The eyeball of one photo: what lids uncover that open wider, and where a gaze that turns finds white."""

import itertools

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.compositing import premultiplied
from avatar_cli.families.portrait.decoder.face_frame import FaceFrame
from avatar_cli.families.portrait.decoder.masks import polygon_mask, soften
from avatar_cli.families.portrait.decoder.photo import RefinedImage
from avatar_cli.families.portrait.decoder.spline import smoothstep
from avatar_cli.families.portrait.landmarks import Eye

_LASHES = 0.012  # e: the lids' soft edge and lashes in front of the eyeball
_CONTINUED = 0.06  # e beyond the lids
_GAZE_REACH = 1.75  # iris radii
_FEWEST = 12  # px of eyeball below which nothing can be continued
_LIMBUS = (1.0, 1.15)  # iris radii: where the iris ends and the white begins
_RINGS = np.linspace(0.0, _LIMBUS[1], 9)
_FEWEST_OF_RING = 4  # px
_SEAM = 0.12  # iris radii: softness between what is seen and what is continued
_SIZES = np.arange(0.85, 1.21, 0.1)  # tracked radii
_OFFSETS = np.arange(-0.2, 0.21, 0.1)
_RIM = 0.22
_UNUSUAL = 12.0  # levels


class Eyeball:
    """The photo's own eyeball, continued under the lids."""

    def __init__(self, face: FaceFrame, eye: Eye, density: int) -> None:
        """Take the eyeball of `eye` from the photo; it is drawn from `density` samples a pixel."""
        unit = face.eye_distance
        iris = face.points[list(eye.iris)]
        self._iris = iris[0].astype(np.float32)
        self._iris_radius = float(np.linalg.norm(iris[1:] - iris[0], axis=1).mean())
        self._right, self._down = face.right, face.down
        outline = face.points[list(eye.upper_lid + eye.lower_lid[::-1])]
        rows, columns = face.image.shape[:2]
        room = int(_CONTINUED * unit) + 3
        left, top = np.maximum(np.floor(outline.min(axis=0)).astype(int) - room, 0)
        right, bottom = np.minimum(np.ceil(outline.max(axis=0)).astype(int) + room + 1, [columns, rows])
        box = Box(int(left), int(top), int(right), int(bottom))
        source = np.ascontiguousarray(face.image[box.inside])
        mask = polygon_mask(outline - box.origin, box.height, box.width)
        size = 2 * max(1, round(_LASHES * unit)) + 1
        hidden = np.asarray(cv2.erode(mask, np.ones((size, size), np.uint8)), np.uint8) < 128
        if np.count_nonzero(~hidden) > _FEWEST:
            source = _continued(source, hidden, (iris[0] - box.origin), self._iris_radius)
        self._origin = box.origin * density
        self._density = density
        self._patch = RefinedImage(source, density)

    def draw(
        self, source: NDArray[np.float32], gaze: tuple[float, float], opacity: NDArray[np.uint8]
    ) -> NDArray[np.uint8]:
        """Premultiplied RGBA [h, w, 4] of the eyeball at positions `source` [h, w, 2], in samples.

        Args:
            source: Where each pixel is taken from while the gaze rests.
            gaze: Shift of the iris to the right and down, iris radii; it fades before the corners of the eye.
            opacity: uint8 [h, w], of the person there.
        """
        across, down = gaze
        positions = source - self._origin
        if across != 0.0 or down != 0.0:
            shift = (self._iris_radius * (across * self._right + down * self._down)).astype(np.float32)
            from_iris = source * np.float32(1 / self._density) - (self._iris + shift)
            reach = np.float32(1 / (_GAZE_REACH * self._iris_radius) ** 2)
            squared = (from_iris * from_iris).sum(axis=-1) * reach
            positions = positions - self._density * shift * np.exp(-squared * squared)[..., None]
        drawn = self._patch.draw(positions)
        if opacity.min() == 255:
            return drawn
        return premultiplied(drawn[..., :3].copy(), opacity)


def _continued(
    source: NDArray[np.uint8], hidden: NDArray[np.bool_], iris: NDArray[np.floating], radius: float
) -> NDArray[np.uint8]:
    """`source` [h, w, 3] with the eyeball where it is `hidden`: a round iris, and white around it.

    Plainly continued, what is seen of an iris would become a dark column under the lids. `iris` [2] and
    `radius` are where it was tracked, px.
    """
    centre, radius = _fitted_iris(source, ~hidden, iris, radius)
    y, x = np.mgrid[0 : source.shape[0], 0 : source.shape[1]]
    from_iris = np.hypot(x - centre[0], y - centre[1]) / radius
    white = hidden | (from_iris < _LIMBUS[1])
    outside = np.asarray(cv2.inpaint(source, white.astype(np.uint8), 3, cv2.INPAINT_TELEA), np.uint8)
    rings = None if white.all() else _ring_colours(source, ~hidden, from_iris)
    if rings is None:
        return np.asarray(cv2.inpaint(source, hidden.astype(np.uint8), 3, cv2.INPAINT_TELEA), np.uint8)
    radii, colours = rings
    disc = np.stack([np.interp(from_iris, radii, colour) for colour in colours.T], axis=-1)
    eyeball = disc + smoothstep(*_LIMBUS, from_iris)[..., None] * (outside - disc)
    cover = soften(np.where(hidden, 255, 0).astype(np.uint8), _SEAM * radius)[..., None] / 255.0
    return np.round(source + np.where(hidden[..., None], 1.0, cover) * (eyeball - source)).astype(np.uint8)


def _fitted_iris(
    source: NDArray[np.uint8], seen: NDArray[np.bool_], centre: NDArray[np.floating], radius: float
) -> tuple[NDArray[np.float64], float]:
    """Centre and radius, px, of the circle near the tracked one with the lightest rim outside a dark one.

    Painted and drawn irises may be larger than anatomy, and with it the tracker, has them.
    """
    y, x = np.nonzero(seen)
    luma = source[y, x].astype(np.float64) @ (0.299, 0.587, 0.114)
    best, found = -np.inf, (np.asarray(centre, np.float64), radius)
    for size, across, down in itertools.product(_SIZES, _OFFSETS, _OFFSETS):
        tried = centre + radius * np.array([across, down])
        distance = np.hypot(x - tried[0], y - tried[1]) / (size * radius)
        within = (distance > 1 - _RIM) & (distance < 1)
        beyond = (distance > 1) & (distance < 1 + _RIM)
        if min(np.count_nonzero(within), np.count_nonzero(beyond)) < _FEWEST:
            continue
        step = luma[beyond].mean() - luma[within].mean()
        step -= _UNUSUAL * (((size - 1) / 0.3) ** 2 + across**2 + down**2)
        if step > best:
            best, found = step, (tried, size * radius)
    return found


def _ring_colours(
    source: NDArray[np.uint8], seen: NDArray[np.bool_], from_iris: NDArray[np.floating]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Radii [n] and median colours [n, 3] of the rings of the iris that are seen; None where none is."""
    radii, colours = [], []
    for inner, outer in itertools.pairwise(_RINGS):
        ring = seen & (from_iris >= inner) & (from_iris < outer)
        if np.count_nonzero(ring) >= _FEWEST_OF_RING:
            radii.append((inner + outer) / 2)
            colours.append(np.median(source[ring], axis=0))
    return (np.array(radii), np.array(colours)) if radii else None
