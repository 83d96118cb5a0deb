"""Gaze: irises that turn, lids that follow them, and what the lids had hidden of the eyeball."""

import dataclasses

import cv2
import numpy as np

from avatar_cli.families.portrait.decoder.expression import ExpressionLimits
from avatar_cli.families.portrait.decoder.eyeball import Eyeball
from avatar_cli.families.portrait.decoder.face_frame import FaceFrame
from avatar_cli.families.portrait.landmarks import LEFT_EYE


def test_eyes_that_look_up_and_down_are_seen_to_do_so(portrait):
    up, down = (portrait.upper_face(portrait.render(gaze_y=gaze)) for gaze in (-0.3, 0.3))
    assert down.gaze_y - up.gaze_y > 0.08
    assert down.lid_opening < 0.98 * up.lid_opening


def test_lids_follow_an_iris_that_goes_up_or_down_but_no_glance_aside(portrait):
    limits = ExpressionLimits(FaceFrame.of(portrait.reference), portrait.reference.rest)

    def lids(**motion):
        eyes = limits.apply(*portrait.inputs(**motion)).eyes
        return eyes.blink, eyes.squint

    blink, squint = lids(gaze_y=0.3)
    assert blink > 0.1
    assert squint < 0
    blink, squint = lids(gaze_y=-0.3)
    assert blink < -0.1
    assert squint > 0
    assert lids(gaze_x=0.4) == (0.0, 0.0)
    assert lids(gaze_y=0.03) == (0.0, 0.0)
    # Shut lids have nothing to follow.
    assert lids(gaze_y=0.3, blink=1.0) == lids(blink=1.0)


def test_an_iris_is_round_under_the_lids(closed_portrait):
    face = FaceFrame.of(closed_portrait.reference)
    eye = LEFT_EYE
    iris = face.points[list(eye.iris)]
    radius = np.linalg.norm(iris[1:] - iris[0], axis=1).mean()
    painted = np.zeros_like(face.image)  # lashes everywhere but between the lids
    outline = face.points[list(eye.upper_lid + eye.lower_lid[::-1])]
    opening = np.zeros(face.image.shape[:2], np.uint8)
    cv2.fillPoly(opening, [np.round(outline).astype(np.int32)], 1)
    y, x = np.mgrid[0 : face.image.shape[0], 0 : face.image.shape[1]]
    of_iris = np.hypot(x - iris[0, 0], y - iris[0, 1]) < radius
    painted[opening > 0] = (240, 235, 230)
    painted[(opening > 0) & of_iris] = (90, 50, 20)
    eyeball = Eyeball(dataclasses.replace(face, image=painted), eye, density=1)
    places = iris[0] + radius * np.linspace(-1.6, 1.6, 33)[:, None] * face.down
    drawn = eyeball.draw(places[None].astype(np.float32), (0.0, 0.0), np.full((1, 33), 255, np.uint8))
    light = drawn[0, :, 0] > 165
    assert light[:4].all()
    assert not light[10:23].any()
    assert light[-4:].all()
