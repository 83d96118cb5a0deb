"""How much skin an upper lid has to come down with: up to the brow as it is seen, or a rim of glasses."""

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.decoder.face_frame import FaceFrame
from avatar_cli.families.portrait.decoder.sampling import sample_grey
from avatar_cli.families.portrait.landmarks import Eye

RIM_SEEN = 0.5  # of `FaceFrame.glasses`
_LEAST = 0.045  # e: lashes and the crease are nearer
_BROW_LOWEST = 0.6  # of the way up to the brow's landmarks; in between are creases, lashes and hollows
_MOST = 0.32  # e
_STEPS = 111
_SKIN = 0.10  # e above the lid: the lightest place up to here is skin
_MIDDLE = slice(2, -2)
_MORE_BESIDE = 1.4
_BESIDE = 0.02  # e, width of the strips that are looked at
_BROW = 0.22  # darker than the skin by this share
_RIM = 0.16
_THICKNESS = 0.012  # e: a line as thin as a wrinkle is none


def lid_room(face: FaceFrame, eye: Eye) -> NDArray[np.float64]:
    """What ends the skin above each point of the upper lid but the corners, as a distance from it, e; [7].

    Brows lie lower than their landmarks where they are thick, and the mesh knows nothing of glasses.
    """
    unit = face.eye_distance
    lid = face.points[list(eye.upper_lid)]
    corners = lid[-1] - lid[0]
    along = corners / np.linalg.norm(corners)
    up = np.array([along[1], -along[0]])
    heights = np.linspace(0.0, _MOST, _STEPS)
    beside = np.linspace(-_BESIDE, _BESIDE, 5) * unit
    positions = (
        lid[1:-1, None, None] + heights[:, None, None] * unit * up + beside[None, None, :, None] * along
    )
    count = len(lid) - 2
    strips = sample_grey(face.image, positions.reshape(count * _STEPS, 5, 2), max(0.6, 0.006 * unit))
    levels = np.median(strips.reshape(count, _STEPS, 5), axis=2)
    beyond_lashes = heights > 0.5 * _LEAST
    skin = levels[:, beyond_lashes & (heights < _SKIN)].max(axis=1, keepdims=True)
    darker = (skin - levels) / np.maximum(skin, 20.0)
    least = _BROW + face.glasses * (_RIM - _BROW)
    ends = darker > least
    thick = max(1, round(_THICKNESS / heights[1]))
    ends = np.asarray(cv2.erode(ends.astype(np.uint8), np.ones((1, thick), np.uint8), anchor=(0, 0))) > 0
    to_brow = _heights_of_brow(face, eye, along, up)
    first = np.maximum(_LEAST, _BROW_LOWEST * to_brow * (1 - face.glasses))
    ends[heights[None] < first[:, None]] = False
    ends[:, -1] = True
    room = heights[ends.argmax(axis=1)]
    if face.glasses < RIM_SEEN:
        # Towards the corners lashes and their shadow look like a brow: the middle tells for all, and at the
        # corners, where the lid hardly moves, nothing is in its way.
        room[:] = float(np.median(room[_MIDDLE]))
        room[[1, -2]] *= _MORE_BESIDE
        room[[0, -1]] = _MOST
        return np.minimum(room, _MOST)
    padded = np.concatenate([room[:1], room, room[-1:]])
    return np.median(np.stack([padded[:-2], padded[1:-1], padded[2:]]), axis=0)


def _heights_of_brow(
    face: FaceFrame, eye: Eye, along: NDArray[np.float64], up: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How far above the points of the upper lid the lower landmarks of the brow lie, e; [7]."""
    lid, brow = face.points[list(eye.upper_lid[1:-1])], face.points[list(eye.lower_brow)]
    height = np.interp(lid @ along, brow @ along, brow @ up) - lid @ up
    return np.maximum(height / face.eye_distance, 0.0)
