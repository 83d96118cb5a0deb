"""What a frame asks of the face, bent to what this photo can show."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.decoder.eyes import UPPER_SHARE, EyeMotion
from avatar_cli.families.portrait.decoder.face_frame import FaceFrame
from avatar_cli.families.portrait.decoder.head_limits import (
    TURNED,
    limit_head_motion,
    soft_limit,
    without_tremor,
)
from avatar_cli.families.portrait.decoder.lips import LipSeal, closing_share
from avatar_cli.families.portrait.landmarks import LEFT_EYE, RIGHT_EYE, Eye
from avatar_cli.families.portrait.latents import CHANNELS, POSE_SLICE
from avatar_cli.families.portrait.motion_basis import BASIS_CHANNELS, load_motion_basis

_GAP = CHANNELS.index("gap")
_BLINK = CHANNELS.index("blink")
_GAZE_X = CHANNELS.index("gaze_x")
_GAZE_Y = CHANNELS.index("gaze_y")
_SQUINT = CHANNELS.index("squint")
_BROW_RAISE = CHANNELS.index("brow_raise")

_MAX_GAZE_X = 0.5  # iris radii: further, the white drawn beside the iris is missing in the photo
_MAX_GAZE_Y = 0.6
# The landmark network, whose readings latents are, sees 0.45 of a gaze that is drawn to turn aside and 0.18
# of one up or down (`training/reading.py`): what it reads alike has to be drawn in that proportion.
_GAZE_Y_GAIN = 2.5
# Shares of the vertical motion of the iris. Without its lids an iris that goes down seems to grow instead.
_UPPER_LID_FOLLOWING, _LOWER_LID_FOLLOWING = 0.9, 0.4
_GLANCE = 0.12  # iris radii: less moves no lids
_MAX_SQUINT = 0.05  # e
_WIDEST = -0.2  # of the opening: surprised eyes
# e. A forehead folds as its brows rise; the photo's only shrinks. Higher, a face-recognition network is
# mostly less sure of the person than in a blink of real people (cosines of 0.93 to 0.96).
_MAX_BROW_RAISE = 0.035
# Less than these is no motion of the eyes: it could not be seen, and eyes at rest need no drawing.
_STILL_BLINK = 0.02
_STILL_SQUINT = 0.003  # e
_STILL_GAZE = 0.02  # iris radii
# e. The tracker may put the lower lip of a wide open mouth on the tongue; then the lip seems thick. Closed,
# a part of the tongue would stay below the lips. A mouth as wide as a scream cannot be closed at all.
_WIDE, _SCREAM = 0.30, 0.42
_THICK_LOWER_LIP = 0.16
_LOWER_LIP = (14, 17)  # from its inner edge to its outer one
# The far half of turned lips is foreshortened, and near a profile folded away: it can only hint at speech.
_PROFILE = math.radians(40)
_MOUTH_OF_TURNED = 0.6
_MOUTH_OF_PROFILE = 0.35
_MOUTH_OF_SCREAM = 0.5
_CREASE_WITH_BROW = 0.5
# The skin over the nasal bone. Where brows rise, tracked meshes sink here: their pose is fitted to points
# some of which rise.
_NOSE_BRIDGE = (168, 6, 197, 122, 351, 193, 417, 245, 465, 188, 412, 196, 419, 174, 399)


@dataclass(frozen=True)
class Expression:
    """One frame's motion.

    Attributes:
        mesh: float64 [478, 3], mesh in the canonical frame, e, lips sealed or apart; lids as in the photo.
        eyes: Motion of lids and gaze.
        head_motion: float64 [6], `latents.POSE`.
    """

    mesh: NDArray[np.float64]
    eyes: EyeMotion
    head_motion: NDArray[np.float64]


class ExpressionLimits:
    """Turns mesh and latents into an `Expression`, within the limits of one photo."""

    def __init__(self, face: FaceFrame, rest: NDArray[np.float32]) -> None:
        """Prepare for a face whose photo shows the latents `rest` [21]."""
        self._face = face
        self._rest = rest.astype(np.float64)
        self._can_close = not _is_scream(face) and abs(face.yaw) <= _PROFILE
        self._mouth_gain = _mouth_gain(face)
        self._raised_brows = load_motion_basis().vectors[BASIS_CHANNELS.index("brow_raise")]
        self._seal = LipSeal(face.canonical, face.mouth_width)
        openings, radii = zip(*(_eye_size(face, eye) for eye in (LEFT_EYE, RIGHT_EYE)), strict=True)
        self._open, self._iris = float(np.mean(openings)), float(np.mean(radii))
        self._lids = [list(eye.upper_lid[1:-1] + eye.lower_lid[1:-1]) for eye in (LEFT_EYE, RIGHT_EYE)]
        self._creases = [(list(eye.crease), list(eye.below_brow)) for eye in (LEFT_EYE, RIGHT_EYE)]

    def apply(self, mesh: NDArray[np.float32], latents: NDArray[np.float32]) -> Expression:
        """The motion of one frame; see `PortraitRenderer.render` for the arguments."""
        change = latents.astype(np.float64) - self._rest
        raised = float(change[_BROW_RAISE])
        excess = raised - soft_limit(raised, _MAX_BROW_RAISE)
        displacement = (mesh - excess * self._raised_brows) * self._mouth_gain
        displacement[list(_NOSE_BRIDGE)] = 0.0
        # Lids are moved by the eyes' own fields, the creases between them and the brow go halfway.
        for lid in self._lids:
            displacement[lid] = 0.0
        for crease, below_brow in self._creases:
            displacement[crease] = _CREASE_WITH_BROW * displacement[below_brow]
        moved = self._face.canonical + displacement
        gap = float(latents[_GAP])
        closing = closing_share(gap, float(self._rest[_GAP])) if self._can_close else 0.0
        self._seal.apply(moved, closing)
        blink = without_tremor(float(change[_BLINK]), _STILL_BLINK) / (1 - _STILL_BLINK)
        squint = without_tremor(float(change[_SQUINT]), _STILL_SQUINT)
        gaze_y = soft_limit(without_tremor(_GAZE_Y_GAIN * float(change[_GAZE_Y]), _STILL_GAZE), _MAX_GAZE_Y)
        iris_down = without_tremor(gaze_y, _GLANCE) * self._iris * (1 - min(max(blink, 0.0), 1.0))
        blink += _UPPER_LID_FOLLOWING * iris_down / (UPPER_SHARE * self._open)
        # A blink raises the lower lid, looking down does not.
        raised = _UPPER_LID_FOLLOWING * (1 / UPPER_SHARE - 1) * iris_down
        squint -= _LOWER_LID_FOLLOWING * iris_down + raised
        eyes = EyeMotion(
            blink=min(max(blink, _WIDEST), 1.0),
            squint=min(max(squint, -_MAX_SQUINT), _MAX_SQUINT),
            gaze_x=soft_limit(without_tremor(float(change[_GAZE_X]), _STILL_GAZE), _MAX_GAZE_X),
            gaze_y=gaze_y,
        )
        return Expression(moved, eyes, limit_head_motion(change[POSE_SLICE], self._face.yaw))


def _eye_size(face: FaceFrame, eye: Eye) -> tuple[float, float]:
    """How far the lids of `eye` are open, and the radius of its iris, e."""
    mesh = face.canonical[:, :2]
    middle = len(eye.upper_lid) // 2
    opening = np.linalg.norm(mesh[eye.lower_lid[middle]] - mesh[eye.upper_lid[middle]])
    centre, *rim = mesh[list(eye.iris)]
    return float(opening), float(np.linalg.norm(np.array(rim) - centre, axis=1).mean())


def _is_scream(face: FaceFrame) -> bool:
    """Whether the photo's mouth is open too far to be closed."""
    inner, outer = (face.canonical[index] for index in _LOWER_LIP)
    is_thick = float(np.linalg.norm(outer - inner)) > _THICK_LOWER_LIP
    return face.widest_gap > _SCREAM or (face.widest_gap > _WIDE and is_thick)


def _mouth_gain(face: FaceFrame) -> float:
    """How much of the asked motion this photo's face can show, 0..1."""
    gain = 1.0
    if abs(face.yaw) > _PROFILE:
        gain = _MOUTH_OF_PROFILE
    elif abs(face.yaw) > TURNED:
        gain = _MOUTH_OF_TURNED
    return gain * _MOUTH_OF_SCREAM if _is_scream(face) else gain
