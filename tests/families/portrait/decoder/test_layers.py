"""A head that moves over what is behind it, and leaves that where it is."""

import dataclasses

import cv2
import numpy as np
import pytest

from avatar_cli.families.portrait.decoder.behind import fill_behind
from avatar_cli.families.portrait.decoder.face_frame import FaceFrame
from avatar_cli.families.portrait.decoder.head_mask import moving_box
from avatar_cli.families.portrait.decoder.layers import layers_of
from avatar_cli.families.portrait.decoder.renderer import PortraitRenderer
from avatar_cli.families.portrait.landmarks import FACE_OVAL
from tests.families.portrait.decoder.portraits import OPEN_PORTRAIT, Portrait, read_portrait

POSES = ({"roll": 0.09}, {"roll": -0.09}, {"shift_x_head": 0.15, "pitch": 0.08}, {"yaw": 0.14, "roll": 0.05})


def layers(portrait):
    face = FaceFrame.of(portrait.reference)
    box = moving_box(face, portrait.reference.person)
    return layers_of(portrait.reference, portrait.scene, face, box), face


def test_pixels_far_from_the_person_never_change(portrait):
    made, face = layers(portrait)
    assert made.person_is_apart
    to_person = cv2.distanceTransform((~made.person).astype(np.uint8), cv2.DIST_L2, 5)
    far = to_person > 0.4 * face.eye_distance
    # Well inside the part that is redrawn.
    assert np.count_nonzero(far[portrait.renderer.head_box.inside]) > 1000
    for pose in POSES:
        assert np.array_equal(portrait.render(**pose)[far], portrait.reference.image[far])


@pytest.mark.parametrize("pose", POSES)
def test_background_that_is_not_covered_stands_still_close_to_the_head_too(portrait, pose):
    made, _ = layers(portrait)
    frame = portrait.render(**pose)
    box = portrait.renderer.head_box
    unchanged = (frame == made.back).all(axis=2)
    seen_before = ~made.person
    covered = seen_before & ~unchanged
    near = cv2.dilate(made.person.astype(np.uint8), np.ones((9, 9), np.uint8)) > 0
    beside = (near & seen_before)[box.inside]
    # The head covers some of what is beside it, on one side; on the other the photo is seen as it was.
    assert 0 < np.count_nonzero(covered[box.inside] & beside) < 0.75 * np.count_nonzero(beside)
    assert np.array_equal(made.back[seen_before], portrait.reference.image[seen_before])


def test_front_over_back_is_the_photo_and_the_face_is_opaque(portrait):
    made, face = layers(portrait)
    opacity = made.front[..., 3:].astype(float) / 255
    together = made.front[..., :3] + made.back * (1 - opacity)
    assert np.abs(together - portrait.reference.image)[portrait.renderer.head_box.inside].max() <= 0.51
    outline = face.points[list(FACE_OVAL)]
    middle = outline.mean(axis=0)
    inner = np.zeros(opacity.shape[:2], np.uint8)
    cv2.fillPoly(inner, [np.int32(middle + 0.9 * (outline - middle))], 1)
    assert (made.front[..., 3][inner == 1] == 255).all()


def test_a_moved_head_has_no_holes(portrait):
    for pose in POSES:
        frame = portrait.render(**pose)
        face = FaceFrame.of(portrait.reference)
        tracked = portrait.canonical(frame)[0].to_pixels(face.canonical[list(FACE_OVAL)])[:, :2]
        middle = tracked.mean(axis=0)
        inner = np.zeros(frame.shape[:2], np.uint8)
        cv2.fillPoly(inner, [np.int32(middle + 0.8 * (tracked - middle))], 1)
        back = layers(portrait)[0].back
        assert (frame == back).all(axis=2)[inner == 1].mean() < 0.01


def test_lines_behind_the_head_are_continued():
    picture = np.full((200, 300, 3), 60, np.uint8)
    picture[90:110] = 220
    hidden = np.zeros((200, 300), bool)
    hidden[40:160, 100:200] = True
    shown = picture.copy()
    shown[hidden] = (255, 0, 0)
    filled = fill_behind(shown, hidden, 100.0).astype(int)
    assert np.array_equal(filled[~hidden], picture[~hidden])
    just_inside = filled[60:140, 104:112].mean(axis=(1, 2))
    assert np.ptp(just_inside) > 80
    bright = np.flatnonzero(just_inside > 140) + 60
    assert abs(bright.mean() - 99.5) < 3
    assert np.abs(np.ptp(filled[hidden], axis=1)).max() < 30, "the person's red is seen behind them"


def test_a_head_that_the_segmentation_misses_stays_one_sheet_with_its_background(networks):
    portrait = Portrait(read_portrait(OPEN_PORTRAIT), *networks)
    face_alone = np.zeros_like(portrait.reference.person)
    outline = portrait.reference.landmarks[list(FACE_OVAL), :2]
    cv2.fillPoly(face_alone, [outline.round().astype(np.int32)], (1,))
    reference = dataclasses.replace(portrait.reference, person=face_alone)
    face = FaceFrame.of(reference)
    made = layers_of(reference, portrait.scene, face, moving_box(face, face_alone))
    assert not made.person_is_apart
    renderer = PortraitRenderer(reference, portrait.scene)
    assert np.array_equal(renderer.render(*portrait.inputs()), reference.image)
