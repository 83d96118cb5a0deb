"""A portrait as the decoder's tests use it: drawn, and looked at again by the tracker."""

import os
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np

from avatar_cli.assets import asset_path
from avatar_cli.families.portrait.decoder.renderer import PortraitRenderer
from avatar_cli.families.portrait.geometry import Pose, personal_pose
from avatar_cli.families.portrait.latents import CHANNELS, MOUTH
from avatar_cli.families.portrait.measures import UpperFace, measure_mouth, measure_upper_face
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from avatar_cli.families.portrait.reference import PortraitReference, encode_reference
from avatar_cli.media.image_in import Photo
from avatar_cli.protocol.job import Fit, Picture

OPEN_PORTRAIT = "p03_man_official_dark_skin_teeth.jpg"
CLOSED_PORTRAIT = "p02_grace_hopper_glasses_closed.jpg"
WIDTH, HEIGHT = 640, 360


class Portrait:
    """A renderer with its reference, and the tracker's view of what it draws."""

    def __init__(self, image, tracker, masker, opacity=None, scene=None, fit=Fit.CROP):
        picture = Picture(WIDTH, HEIGHT, Fraction(25), fit, "black", face=None)
        photo = Photo(Path("portrait.png"), image, opacity)
        self.scene = np.zeros((HEIGHT, WIDTH, 3), np.uint8) if scene is None else scene
        self.reference: PortraitReference = encode_reference(photo, self.scene, picture, tracker, masker)
        self.renderer = PortraitRenderer(self.reference, self.scene)
        self._tracker = tracker
        self._basis = load_motion_basis()

    def inputs(self, **changes: float):
        """Mesh and latents for changes against the photo; `gap` and `jaw_drop` are absolute."""
        latents = self.reference.rest.copy()
        for name, value in changes.items():
            index = CHANNELS.index(name)
            latents[index] = value if name in ("gap", "jaw_drop") else latents[index] + value
        return self._basis.displacement(latents - self.reference.rest), latents

    def render(self, **changes: float):
        return self.renderer.render(*self.inputs(**changes))

    def canonical(self, frame) -> tuple[Pose, np.ndarray]:
        face = self._tracker.track(frame)
        assert face is not None, "the tracker no longer finds the face"
        return personal_pose(face.landmarks, self._basis.shape)

    def gap(self, frame) -> float:
        return float(measure_mouth(self.canonical(frame)[1])[MOUTH.index("gap")])

    def upper_face(self, frame) -> UpperFace:
        return measure_upper_face(self.canonical(frame)[1])

    def pose(self, frame) -> Pose:
        return self.canonical(frame)[0]


def has_test_media() -> bool:
    return "AVATAR_TEST_MEDIA" in os.environ


def read_portrait(name: str):
    """RGB picture from the test media, or the demo portrait without them."""
    media = os.environ.get("AVATAR_TEST_MEDIA")
    path = Path(media) / "portraits" / name if media else asset_path("demo/reference.png")
    return cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB)
