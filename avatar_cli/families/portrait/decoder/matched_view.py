"""Another sight of the person, brought to the photo's size, light and canonical frame."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.decoder.face_frame import FaceFrame
from avatar_cli.families.portrait.decoder.light import skin_colour
from avatar_cli.families.portrait.face_view import FaceView
from avatar_cli.families.portrait.geometry import Pose

_NOSE = [1, 2, 4, 5, 98, 327, 168, 6, 197, 195]
_FINER = 1.25  # more pixels than the video has would only be lost to coarse sampling
_GAINS = (0.5, 2.0)


@dataclass(frozen=True)
class MatchedView:
    """A `FaceView` as if it had been taken with the photo.

    Attributes:
        image: uint8 [h, w, 3], RGB.
        points: float64 [478, 2], mesh on `image`, px.
        canonical: float64 [478, 3], mesh in the photo's canonical frame, e.
        pose: That frame to `image`.
    """

    image: NDArray[np.uint8]
    points: NDArray[np.float64]
    canonical: NDArray[np.float64]
    pose: Pose

    @classmethod
    def of(cls, view: FaceView, face: FaceFrame) -> "MatchedView":
        """Match `view` to the photo of `face`: by the nose, which both have, and the skin of the cheeks."""
        offset = (face.canonical[_NOSE] - view.canonical[_NOSE]).mean(axis=0)
        image, points, pose = view.image, view.landmarks[:, :2].astype(np.float64), view.pose
        translation = pose.translation - pose.scale * pose.rotation @ offset
        scale = pose.scale
        shrink = face.eye_distance / scale
        if shrink < 1 / _FINER:
            height, width = image.shape[:2]
            size = (round(width * shrink), round(height * shrink))
            image = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)
            half = np.array([0.5, 0.5, 0.0])  # the first pixel's centre
            points = (points + half[:2]) * shrink - half[:2]
            translation = (translation + half) * shrink - half
            scale = face.eye_distance
        gain = (skin_colour(face.image, face.points) + 1) / (skin_colour(image, points) + 1)
        lit = np.round(image * np.clip(gain, *_GAINS))
        return cls(
            image=np.clip(lit, 0, 255).astype(np.uint8),
            points=points,
            canonical=view.canonical + offset,
            pose=Pose(scale, pose.rotation, translation),
        )
