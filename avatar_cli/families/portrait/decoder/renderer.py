"""Frames of a speaking portrait, drawn by warping its photo."""

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.compositing import composite
from avatar_cli.families.portrait.decoder.expression import Expression, ExpressionLimits
from avatar_cli.families.portrait.decoder.eyes import EyeRegion
from avatar_cli.families.portrait.decoder.face_frame import FaceFrame
from avatar_cli.families.portrait.decoder.head_field import HeadField, Part
from avatar_cli.families.portrait.decoder.head_mask import moving_box
from avatar_cli.families.portrait.decoder.layers import layers_of
from avatar_cli.families.portrait.decoder.matched_view import MatchedView
from avatar_cli.families.portrait.decoder.mouth import Mouth
from avatar_cli.families.portrait.decoder.photo import RefinedImage
from avatar_cli.families.portrait.decoder.warped_head import WarpedHead
from avatar_cli.families.portrait.geometry import Pose, moved_pose
from avatar_cli.families.portrait.landmarks import LEFT_EYE, RIGHT_EYE
from avatar_cli.families.portrait.reference import PortraitReference


class PortraitRenderer:
    """Draws one frame after another; a frame depends on its own inputs alone.

    Made for one thread: the process that owns it calls `cv2.setNumThreads(1)` and keeps the BLAS to one
    thread, since a frame's matrix products are too small to share.
    """

    def __init__(self, reference: PortraitReference, scene: NDArray[np.uint8]) -> None:
        """Prepare everything that depends on the photo alone.

        Args:
            reference: The photo of the person.
            scene: uint8 [H, W, 3], RGB: what lies behind a cut-out person and stays still.
        """
        face = FaceFrame.of(reference)
        self._face = face
        self._limits = ExpressionLimits(face, reference.rest)
        box = moving_box(face, reference.person)
        layers = layers_of(reference, scene, face, box)
        self._head = HeadField(face, box, layers)
        self._photo = RefinedImage(
            layers.front, self._head.grid.density, box, face_is_opaque=reference.cutout is None
        )
        self._backdrop = reference.image.copy()
        self._backdrop[box.inside] = layers.back[box.inside]
        # Written anew by every frame, wherever it is then looked at.
        self._picture = np.zeros((box.height, box.width, 4), np.uint8)
        self._source = np.zeros((box.height, box.width, 2), np.float32)
        open_mouth, closed_eyes = (
            None if view is None else MatchedView.of(view, face)
            for view in (reference.open_mouth, reference.closed_eyes)
        )
        self._eyes = tuple(
            EyeRegion(face, eye, self._head.grid, closed_eyes) for eye in (LEFT_EYE, RIGHT_EYE)
        )
        self._mouth = Mouth(face, self._head.grid, open_mouth)
        self._resting_mesh = self._points(face.canonical, self._pose(np.zeros(6)))
        self._resting_anchors = self._points(self._head.anchors, self._pose(np.zeros(6)))

    @property
    def head_box(self) -> Box:
        """The part of the canvas that frames redraw."""
        return self._head.box

    def render(self, mesh: NDArray[np.float32], latents: NDArray[np.float32]) -> NDArray[np.uint8]:
        """One frame, uint8 [H, W, 3], RGB, a new array.

        Args:
            mesh: float32 [478, 3], displacement of the mesh from the photo's own, canonical frame, e.
            latents: float32 [21], the motion latents the mesh was made from (`latents.CHANNELS`).

        Returns:
            The canvas with the head redrawn. Where nothing moves it is the canvas, bit for bit.
        """
        expression = self._limits.apply(mesh, latents)
        head = self._warp_head(expression)
        for eye in self._eyes:
            eye.draw(head, expression.eyes)
        moved = (self._points(expression.mesh, head.pose) - self._resting_mesh).astype(np.float32)
        self._mouth.draw(head, moved, expression.mesh)
        frame = self._backdrop.copy()
        redrawn = frame[head.box.inside]
        for part in head.parts:
            self._show(head.picture, part, redrawn)
        return frame

    @staticmethod
    def _show(picture: NDArray[np.uint8], part: Part, redrawn: NDArray[np.uint8]) -> None:
        """Lay a part of the head's picture over what is behind it: its opaque middle hides that."""
        left, right = part.opaque_left, max(part.opaque_right, part.opaque_left)
        box = part.box
        for first, last in ((box.left, left), (right, box.right)):
            if first < last:
                behind = redrawn[box.top : box.bottom, first:last]
                composite(picture[box.top : box.bottom, first:last], behind, behind)
        if left < right:
            hidden = redrawn[box.top : box.bottom, left:right]
            cv2.cvtColor(picture[box.top : box.bottom, left:right], cv2.COLOR_RGBA2RGB, dst=hidden)

    def _warp_head(self, expression: Expression) -> WarpedHead:
        pose = self._pose(expression.head_motion)
        moved = (self._points(expression.mesh, pose) - self._resting_mesh).astype(np.float32)
        anchors = (self._points(self._head.anchors, pose) - self._resting_anchors).astype(np.float32)
        displacement = self._head.displacement(moved, anchors)
        backward = self._head.inverse(displacement)
        parts = self._head.parts(displacement)
        for part in parts:
            source = self._head.grid.source_of_part(backward, part.box, self._source)
            self._photo.draw(source, self._picture[part.box.inside])
        return WarpedHead(self._photo, self._picture, self._head.box, parts, displacement, self._source, pose)

    def _pose(self, motion: NDArray[np.floating]) -> Pose:
        return moved_pose(self._face.pose, motion)

    @staticmethod
    def _points(canonical: NDArray[np.float64], pose: Pose) -> NDArray[np.float64]:
        return pose.to_pixels(canonical)[:, :2]
