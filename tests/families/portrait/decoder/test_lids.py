"""Lids: what must not move with them, eyes wider than in the photo, and lids of another view."""

import dataclasses

import cv2
import numpy as np
import pytest

from avatar_cli.families.portrait.decoder.eyeball import Eyeball
from avatar_cli.families.portrait.decoder.face_frame import FaceFrame
from avatar_cli.families.portrait.decoder.lid_room import lid_room
from avatar_cli.families.portrait.decoder.renderer import PortraitRenderer
from avatar_cli.families.portrait.face_view import FaceView
from avatar_cli.families.portrait.geometry import personal_pose
from avatar_cli.families.portrait.landmarks import LEFT_EYE, RIGHT_EYE
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from tests.families.portrait.decoder.portraits import Portrait, has_test_media, read_portrait

needs_media = pytest.mark.skipif(not has_test_media(), reason="AVATAR_TEST_MEDIA is not set")
EYES = (LEFT_EYE, RIGHT_EYE)
GLASSES = ["p02_grace_hopper_glasses_closed.jpg", "p07_woman_black_glasses.jpg"]


def upright(face, eye):
    lid = face.points[list(eye.upper_lid)]
    along = (lid[-1] - lid[0]) / np.linalg.norm(lid[-1] - lid[0])
    return lid[1:-1], np.array([along[1], -along[0]])


def opening(portrait, frame):
    return portrait.upper_face(frame).lid_opening


@pytest.fixture(scope="module")
def with_glasses(networks):
    return [Portrait(read_portrait(name), *networks) for name in GLASSES]


@needs_media
def test_rims_of_glasses_do_not_move_in_a_blink(with_glasses):
    for portrait in with_glasses:
        face = FaceFrame.of(portrait.reference)
        photo, blinking = portrait.reference.image, portrait.render(blink=1.0)
        for eye in EYES:
            lid, up = upright(face, eye)
            heights = lid_room(face, eye)[:, None] + np.linspace(0.03, 0.12, 10)
            places = lid[:, None] + heights[..., None] * face.eye_distance * up
            x, y = np.round(places.reshape(-1, 2)).astype(int).T
            assert np.abs(blinking[y, x].astype(int) - photo[y, x]).max() <= 3
            x, y = np.round((lid + face.points[list(eye.lower_lid[1:-1])]) / 2).astype(int).T
            assert np.abs(blinking[y, x].astype(int) - photo[y, x]).max() > 20


@needs_media
def test_a_rim_is_seen_and_a_brow_but_no_crease(with_glasses, networks):
    bare = FaceFrame.of(Portrait(read_portrait("p32_flux_woman_closed.png"), *networks).reference)
    low_brow = FaceFrame.of(
        Portrait(read_portrait("p03_man_official_dark_skin_teeth.jpg"), *networks).reference
    )
    for eye in EYES:
        assert np.median(lid_room(FaceFrame.of(with_glasses[1].reference), eye)) < 0.07
        assert 0.05 < np.median(lid_room(low_brow, eye)) < 0.10
        assert np.median(lid_room(bare, eye)) > 0.13


@needs_media
def test_a_low_brow_stays_where_it_is_in_a_blink(networks):
    portrait = Portrait(read_portrait("p03_man_official_dark_skin_teeth.jpg"), *networks)
    face = FaceFrame.of(portrait.reference)
    photo, blinking = portrait.reference.image, portrait.render(blink=1.0)
    for eye in EYES:
        lid, up = upright(face, eye)
        places = lid[2:-2] + np.array([0.07, 0.08, 0.09])[:, None, None] * face.eye_distance * up
        x, y = np.round(places.reshape(-1, 2)).astype(int).T
        assert np.abs(blinking[y, x].astype(int) - photo[y, x]).mean() < 12


def test_a_blink_below_zero_opens_the_eyes_wider_and_no_further_than_a_fifth(portrait):
    still = opening(portrait, portrait.reference.image)
    wide = portrait.render(blink=-0.2)
    assert opening(portrait, wide) / still > 1.02
    assert np.array_equal(portrait.render(blink=-0.6), portrait.render(blink=-0.25))


def test_lids_that_open_wider_uncover_eyeball_and_no_lashes(closed_portrait):
    face = FaceFrame.of(closed_portrait.reference)
    for eye in EYES:
        painted = np.zeros_like(face.image)  # lashes everywhere but between the lids
        outline = face.points[list(eye.upper_lid + eye.lower_lid[::-1])]
        cv2.fillPoly(painted, [np.round(outline).astype(np.int32)], (250, 240, 230))
        eyeball = Eyeball(dataclasses.replace(face, image=painted), eye, density=1)
        lid, up = upright(face, eye)
        above = (lid[2:-2] + 0.025 * face.eye_distance * up)[None].astype(np.float32)
        drawn = eyeball.draw(above, (0.0, 0.0), np.full(above.shape[:2], 255, np.uint8))
        assert (drawn[..., :3] > 200).all()


def view_with_blue_lids(portrait, networks):
    frame = portrait.reference.image.copy()
    landmarks = networks[0].track(frame).landmarks
    for eye in EYES:
        outline = landmarks[list(eye.crease + eye.under_lid[::-1]), :2]
        cv2.fillPoly(frame, [np.round(outline).astype(np.int32)], (20, 20, 250))
    pose, canonical = personal_pose(landmarks, load_motion_basis().shape)
    return FaceView(frame, landmarks, pose, canonical.astype(np.float32))


def test_closed_lids_are_those_of_the_view(closed_portrait, networks):
    reference = dataclasses.replace(
        closed_portrait.reference, closed_eyes=view_with_blue_lids(closed_portrait, networks)
    )
    renderer = PortraitRenderer(reference, closed_portrait.scene)

    def is_blue(frame):
        face = FaceFrame.of(reference)
        middles = [face.points[[eye.upper_lid[4], eye.lower_lid[4]]].mean(axis=0) for eye in EYES]
        x, y = np.round(middles).astype(int).T
        colours = frame[y, x].astype(int)
        return (colours[:, 2] > colours[:, 0] + 60).all()

    assert is_blue(renderer.render(*closed_portrait.inputs(blink=1.0)))
    assert not is_blue(closed_portrait.render(blink=1.0))
    # Open eyes, and lids on their way, are those of the photo.
    assert np.array_equal(renderer.render(*closed_portrait.inputs()), reference.image)
    assert np.array_equal(
        renderer.render(*closed_portrait.inputs(blink=0.3)), closed_portrait.render(blink=0.3)
    )
