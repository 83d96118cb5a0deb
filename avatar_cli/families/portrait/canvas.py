"""Brings a picture of any shape to the size of the video, with the face in a good place."""

from dataclasses import dataclass, replace
from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.compositing import composite, premultiplied, without_overshoot
from avatar_cli.families.portrait.landmarks import LEFT_EYE, RIGHT_EYE
from avatar_cli.media.image_in import Photo
from avatar_cli.protocol.job import Fit

Image = NDArray[np.uint8]  # [H, W, 3], RGB
CutOut = NDArray[np.uint8]  # [H, W, 4], RGBA, premultiplied
Value = TypeVar("Value", np.uint8, np.float32)

# The head reaches beyond the mesh, whose top is the hairline: shares of the mesh's height and width.
HAIR_ABOVE = 0.32
ROOM_BELOW = 0.08
ROOM_BESIDE = 0.18
EYE_LINE = 0.36  # height of the eyes in the video where there is a choice
# A face lower than this share of the video is enlarged, as long as that takes no upscaling.
SMALLEST_FACE = 0.25
# Rather than thin bars: the head may be this much larger than the part, at the cost of its hair.
CUT_HAIR = 1.2
# Between bars more of the picture is shown than the head needs, as far as there is more.
MORE_BETWEEN_BARS = 1.25
_EDGE = 0.01  # of the picture's height: soft cut-outs end a little before its edge


@dataclass(frozen=True)
class Canvas:
    """The picture at the size of the video.

    Attributes:
        image: uint8 [height, width, 3], RGB: the picture over the scene.
        cutout: uint8 [height, width, 4], RGBA, premultiplied: the picture without the scene, transparent in
            bars. None where the part of it that is seen is opaque.
        picture: Where the picture lies; around it are bars.
        transform: float64 [2, 3], pixels of the picture to pixels of the canvas.
    """

    image: Image
    cutout: CutOut | None
    picture: Box
    transform: NDArray[np.float64]

    @property
    def shows_scene(self) -> bool:
        """Whether anything of the scene is seen."""
        height, width = self.image.shape[:2]
        return self.cutout is not None or self.picture != Box(0, 0, width, height)


@dataclass(frozen=True)
class _Rectangle:
    left: float
    top: float
    width: float
    height: float


def compose(photo: Photo, landmarks: NDArray, scene: Image, fit: Fit) -> Canvas:
    """Crops or pads a picture to the size of the video.

    `Fit.PAD` shows the whole picture between bars; a person who is cut out down to the lower edge stands on
    that of the video. `Fit.CROP` cuts the largest part that has the video's shape, around the head: the whole
    head is inside, its eyes near the upper third. Where the head is clearly larger than such a part, the part
    grows beyond the picture and the picture gets bars; where it is a little larger, the top of the hair is
    cut instead.

    Args:
        photo: The picture.
        landmarks: [478, 2 or 3], the face's mesh in pixels of the picture.
        scene: uint8 [height, width, 3], RGB, of the video's size: seen in bars and through the picture.
        fit: Crop or pad.
    """
    height, width = photo.pixels.shape[:2]
    size = (scene.shape[1], scene.shape[0])
    part = _padded(width, height, size)
    if fit is Fit.CROP:
        part = _cropped(width, height, landmarks[:, :2], size)
    elif _stands(photo.opacity):
        part = replace(part, top=height - part.height)
    return _resample(photo, part, scene)


def _padded(width: int, height: int, size: tuple[int, int]) -> _Rectangle:
    scale = min(size[0] / width, size[1] / height)
    across, down = size[0] / scale, size[1] / scale
    return _Rectangle((width - across) / 2, (height - down) / 2, across, down)


def _stands(opacity: NDArray[np.uint8] | None) -> bool:
    """Whether a cut-out reaches the lower edge of its picture and not the upper one."""
    if opacity is None:
        return False
    margin = 1 + round(_EDGE * len(opacity))
    return bool(opacity[-margin:].any() and not opacity[:margin].any())


def _cropped(width: int, height: int, face: NDArray, size: tuple[int, int]) -> _Rectangle:
    aspect = size[0] / size[1]
    low, high = face.min(axis=0), face.max(axis=0)
    face_width, face_height = high - low
    head_top = low[1] - HAIR_ABOVE * face_height
    head_bottom = high[1] + ROOM_BELOW * face_height
    head_width = face_width * (1 + 2 * ROOM_BESIDE)
    largest = min(height, width / aspect)
    down = min(largest, max(face_height / SMALLEST_FACE, size[1]))
    # What the picture does not show of the head is not asked for.
    visible_top, visible_bottom = max(head_top, 0.0), min(head_bottom, float(height))
    needed = max(visible_bottom - visible_top, min(head_width, width) / aspect)
    # Nothing of the face itself is cut, also where the picture ends at the hairline or the cheeks.
    face_across = min(high[0], float(width)) - max(low[0], 0.0)
    face_needs = max(visible_bottom - max(low[1], 0.0), face_across / aspect)
    if largest < needed <= largest * CUT_HAIR and face_needs <= largest:
        needed = largest
    down = max(down, needed)
    if down > largest:  # there are bars anyway
        down = min(down * MORE_BETWEEN_BARS, max(height, width / aspect))
    across = down * aspect
    eyes = face[[*LEFT_EYE.upper_lid, *RIGHT_EYE.upper_lid], 1].mean()
    top = max(min(eyes - EYE_LINE * down, visible_top), visible_bottom - down)
    left = (low[0] + high[0]) / 2 - across / 2
    return _Rectangle(_placed(left, across, width), _placed(float(top), down, height), across, down)


def _placed(start: float, length: float, available: float) -> float:
    """The start nearest to the wanted one inside the picture, or the one that centres a smaller picture."""
    if length > available:
        return (available - length) / 2
    return min(max(start, 0.0), available - length)


def _resample(photo: Photo, part: _Rectangle, scene: Image) -> Canvas:
    height, width = photo.pixels.shape[:2]
    size = (scene.shape[1], scene.shape[0])
    scale_x, scale_y = size[0] / part.width, size[1] / part.height
    # The pixels of the picture that the part shows, and where they land: whole pixels on both sides.
    source_x, target_x = _visible(part.left, part.width, width, scale_x, size[0])
    source_y, target_y = _visible(part.top, part.height, height, scale_y, size[1])
    source = Box(source_x[0], source_y[0], source_x[1], source_y[1])
    target = Box(target_x[0], target_y[0], target_x[1], target_y[1])
    image = scene.copy()
    cutout = _resized_cutout(photo, source, target)
    if cutout is None:
        image[target.inside] = _resized(photo.pixels[source.inside], target)
    else:
        canvas_cutout = np.zeros((*scene.shape[:2], 4), np.uint8)
        canvas_cutout[target.inside] = cutout
        cutout = canvas_cutout
        composite(cutout, scene, image)
    ratio_x, ratio_y = target.width / source.width, target.height / source.height
    # Pixel centres are whole numbers, so edges lie half a pixel before them.
    shift_x = target.left - 0.5 - (source.left - 0.5) * ratio_x
    shift_y = target.top - 0.5 - (source.top - 0.5) * ratio_y
    transform = np.array([[ratio_x, 0.0, shift_x], [0.0, ratio_y, shift_y]])
    return Canvas(image, cutout, target, transform)


def _resized_cutout(photo: Photo, source: Box, target: Box) -> CutOut | None:
    """The part `source` of the picture at the size of `target`; None where that part is opaque."""
    if photo.opacity is None:
        return None
    opacity = photo.opacity[source.inside]
    if opacity.min() == 255:
        return None
    cut = premultiplied(photo.pixels[source.inside], np.ascontiguousarray(opacity))
    if _shrinks(cut, target):
        return _resized(cut, target)
    return without_overshoot(_resized(cut.astype(np.float32), target))


def _resized(part: NDArray[Value], target: Box) -> NDArray[Value]:
    way = cv2.INTER_AREA if _shrinks(part, target) else cv2.INTER_CUBIC
    return cv2.resize(part, (target.width, target.height), interpolation=way)  # type: ignore[return-value]


def _shrinks(part: NDArray[Value], target: Box) -> bool:
    return target.width < part.shape[1] or target.height < part.shape[0]


def _visible(
    start: float, length: float, available: int, scale: float, wanted: int
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Ranges of whole pixels of the picture and of the canvas along one axis."""
    first, last = max(round(start), 0), min(round(start + length), available)
    if start >= -0.5 and start + length <= available + 0.5:
        return (first, last), (0, wanted)
    begin = max(0, round((first - start) * scale))
    return (first, last), (begin, min(wanted, begin + max(1, round((last - first) * scale))))
