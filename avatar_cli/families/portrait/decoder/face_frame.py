"""What the decoder knows of the photo's face: its mesh in two frames, and its proportions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.compositing import plain_colours
from avatar_cli.families.portrait.decoder.bars import picture_between_bars
from avatar_cli.families.portrait.decoder.glasses import glasses_on_bridge
from avatar_cli.families.portrait.decoder.lips import snap_to_seam
from avatar_cli.families.portrait.decoder.spline import ThinPlateSpline
from avatar_cli.families.portrait.geometry import Pose, euler_angles
from avatar_cli.families.portrait.landmarks import (
    FACE_OVAL,
    INNER_LOWER_LIP,
    INNER_UPPER_LIP,
    OUTER_EYE_CORNERS,
)
from avatar_cli.families.portrait.reference import PortraitReference

SKIN_POINTS = 468  # the mesh without the ten iris points
_DEPTH_SMOOTHING = 0.05
_OPEN_MOUTH = 0.045  # e: a wider gap shows the photo's own teeth
_CHEEKBONES = (234, 454)
_FOREHEAD_TOP = 10
_CHIN_TIP = 152
_MOUTH_CORNERS = (61, 291)


@dataclass(frozen=True)
class FaceFrame:
    """Geometry of the photo's face, computed once.

    Attributes:
        image: uint8 [H, W, 3], the canvas; of a cut-out its own colours, without the scene.
        points: float64 [478, 2], mesh in px; on a photo with closed lips the inner lips lie on the seam.
        canonical: float64 [478, 3], the same mesh in the canonical frame, e; its depth is smoothed, because
            a steep or noisy depth makes the outline of the cheek wavy when the head turns.
        eye_distance: px of 1 e.
        pose: Canonical frame to image.
        right: float64 [2], unit vector across the face in the image.
        down: float64 [2], unit vector down the face in the image.
        centre: float64 [2], centre of the face outline, px.
        height: forehead to chin, px.
        width: cheekbone to cheekbone without foreshortening, px.
        mouth_width: corner to corner in the canonical frame, e.
        widest_gap: largest distance between the inner lips, e.
        mouth_is_open: whether the photo shows the inside of the mouth.
        yaw: turn of the head in the photo, radians.
        glasses: 0 for a bare nose bridge, 1 where glasses rest on it.
        picture: the part of the canvas that may move: the photo without bars.
    """

    image: NDArray[np.uint8]
    points: NDArray[np.float64]
    canonical: NDArray[np.float64]
    eye_distance: float
    pose: Pose
    right: NDArray[np.float64]
    down: NDArray[np.float64]
    centre: NDArray[np.float64]
    height: float
    width: float
    mouth_width: float
    widest_gap: float
    mouth_is_open: bool
    yaw: float
    glasses: float
    picture: Box

    @classmethod
    def of(cls, reference: PortraitReference) -> "FaceFrame":
        """Measure the face of `reference`."""
        cutout = reference.cutout
        image = reference.image if cutout is None else plain_colours(cutout)
        mesh = reference.landmarks.astype(np.float64)
        pose = reference.pose
        eye_distance = pose.scale
        upper = mesh[list(INNER_UPPER_LIP), :2]
        lower = mesh[list(INNER_LOWER_LIP), :2]
        widest_gap = float(np.linalg.norm(upper - lower, axis=1).max()) / eye_distance
        mouth_is_open = widest_gap > _OPEN_MOUTH
        if not mouth_is_open:
            mesh[:, :2] = snap_to_seam(image, mesh[:, :2], eye_distance)
        smooth_depth = ThinPlateSpline(mesh[:SKIN_POINTS, :2], _DEPTH_SMOOTHING)
        mesh[:SKIN_POINTS, 2] = smooth_depth.evaluate(mesh[:SKIN_POINTS, 2:], mesh[:SKIN_POINTS, :2])[:, 0]
        canonical = pose.to_canonical(mesh)
        upward = mesh[_FOREHEAD_TOP, :2] - mesh[_CHIN_TIP, :2]
        height = float(np.linalg.norm(upward))
        down = -upward / height
        right = np.array([down[1], -down[0]])
        left_bone, right_bone = _CHEEKBONES
        width = max(
            float(np.linalg.norm(canonical[right_bone] - canonical[left_bone])) * eye_distance,
            float(np.linalg.norm(mesh[right_bone, :2] - mesh[left_bone, :2])),
        )
        if right @ (mesh[OUTER_EYE_CORNERS[1], :2] - mesh[OUTER_EYE_CORNERS[0], :2]) < 0:
            right = -right
        left_corner, right_corner = _MOUTH_CORNERS
        return cls(
            image=image,
            points=mesh[:, :2].copy(),
            canonical=canonical,
            eye_distance=eye_distance,
            pose=pose,
            right=right,
            down=down,
            centre=mesh[list(FACE_OVAL), :2].mean(axis=0),
            height=height,
            width=width,
            mouth_width=float(np.linalg.norm(canonical[right_corner] - canonical[left_corner])),
            widest_gap=widest_gap,
            mouth_is_open=mouth_is_open,
            yaw=euler_angles(pose.rotation)[0],
            glasses=glasses_on_bridge(image, mesh[:, :2], eye_distance),
            picture=_moving_part(reference),
        )


def _moving_part(reference: PortraitReference) -> Box:
    """The photo without bars of its own; of a cut-out with the bars into which the person may move.

    At a transparent edge the person is not cut.
    """
    picture, cutout = reference.picture, reference.cutout
    if cutout is None:
        own = picture_between_bars(reference.image[picture.inside])
        x, y = picture.left, picture.top
        return Box(x + own.left, y + own.top, x + own.right, y + own.bottom)
    rows, columns = cutout.shape[:2]
    opacity = cutout[picture.inside][..., 3]
    return Box(
        left=picture.left if opacity[:, 0].any() else 0,
        top=picture.top if opacity[0].any() else 0,
        right=picture.right if opacity[:, -1].any() else columns,
        bottom=picture.bottom if opacity[-1].any() else rows,
    )
