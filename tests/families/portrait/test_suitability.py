from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from avatar_cli.families.portrait.geometry import Pose, rotation_matrix
from avatar_cli.families.portrait.landmarks import BLENDSHAPES, INNER_LOWER_LIP
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from avatar_cli.families.portrait.suitability import check_suitable, face_warnings
from avatar_cli.protocol.errors import InputError

ME = Path("me.png")


def placed(face, shape, *, scale=60.0, at=(225.0, 110.0), yaw=0.0):
    """The face with another mesh in the canonical frame."""
    pose = Pose(scale, rotation_matrix(np.radians(yaw), 0, 0), np.array([*at, 0.0]))
    return replace(face, landmarks=pose.to_pixels(shape).astype(np.float32))


def one_warning(image, face):
    (sentence,) = face_warnings(image, face)
    return sentence


def test_a_good_face_is_suitable_and_gives_no_warning(picture, face):
    check_suitable(ME, picture, face)
    assert face_warnings(picture, face) == []
    assert face_warnings(picture, placed(face, load_motion_basis().shape)) == []


def test_a_face_below_eight_pixels_is_refused(picture, face):
    shape = load_motion_basis().shape
    check_suitable(ME, picture, placed(face, shape, scale=8.1))
    with pytest.raises(InputError, match=r"The face in me\.png is too small, 7 pixels"):
        check_suitable(ME, picture, placed(face, shape, scale=7.9))


@pytest.mark.parametrize("at", [(15.0, 110.0), (500.0, 110.0), (225.0, -10.0), (225.0, 460.0)])
def test_a_face_mostly_outside_is_refused(picture, face, at):
    with pytest.raises(InputError, match=r"[2-9]\d% of the face lies outside me\.png"):
        check_suitable(ME, picture, placed(face, load_motion_basis().shape, at=at))


def test_a_face_a_little_outside_is_told(picture, face):
    cut = placed(face, load_motion_basis().shape, at=(38.0, 110.0))
    check_suitable(ME, picture, cut)
    assert any("edge of the picture cuts" in sentence for sentence in face_warnings(picture, cut))


def test_a_turned_face_is_told_and_its_foreshortened_proportions_are_not(picture, face):
    shape = load_motion_basis().shape.copy()
    shape[shape[:, 1] > 0, 1] *= 0.75
    shape[[234, 454, 98, 327], 0] *= 0.8
    assert "photo of a human face" in one_warning(picture, placed(face, shape))
    turned = placed(face, shape, yaw=40)
    assert "turned by 40 degrees" in one_warning(picture, turned)


def test_a_small_face_is_told(picture, face):
    small = placed(face, load_motion_basis().shape, scale=30.0)
    assert "small, 30 pixels" in one_warning(picture, small)


def test_a_wide_open_mouth_is_told(picture, face):
    shape = load_motion_basis().shape.copy()
    shape[list(INNER_LOWER_LIP), 1] += 0.35
    assert "wide open" in one_warning(picture, placed(face, shape))


def test_a_broad_smile_is_told_and_lips_as_far_apart_without_one_are_not(picture, face):
    shape = load_motion_basis().shape.copy()
    shape[list(INNER_LOWER_LIP), 1] += 0.2
    left, right = (BLENDSHAPES.index(f"mouthSmile{side}") for side in ("Left", "Right"))
    for score, told in ((0.9, True), (0.3, False)):
        scores = face.blendshapes.copy()
        scores[[left, right]] = score
        sentences = face_warnings(picture, replace(placed(face, shape), blendshapes=scores))
        assert any("smile is broad" in sentence for sentence in sentences) == told


@pytest.mark.parametrize(("roll", "side"), [(90.0, "left"), (-90.0, "right")])
def test_a_head_on_its_side_is_told_with_the_way_to_turn_it(picture, face, roll, side):
    pose = Pose(60.0, rotation_matrix(0, 0, np.radians(roll)), np.array([225.0, 225.0, 0.0]))
    lying = replace(face, landmarks=pose.to_pixels(load_motion_basis().shape).astype(np.float32))
    assert f"turn the picture to the {side} first" in one_warning(picture, lying)


def test_closed_eyes_are_told_and_a_wink_is_not(picture, face):
    left, right = (BLENDSHAPES.index(f"eyeBlink{side}") for side in ("Left", "Right"))
    scores = face.blendshapes.copy()
    scores[left] = 0.8
    assert face_warnings(picture, replace(face, blendshapes=scores)) == []
    scores[right] = 0.8
    assert "eyes are closed" in one_warning(picture, replace(face, blendshapes=scores))


def test_a_hidden_mouth_is_told_once(picture, face):
    shape = load_motion_basis().shape.copy()
    shape[list(INNER_LOWER_LIP), 1] += 0.35  # the tracker sees anything in what it cannot see
    hidden = placed(face, shape)
    image = picture.copy()
    image[120:200] = 0
    assert "mouth seems to be hidden" in one_warning(image, hidden)
