import cv2
import numpy as np
import pytest

from avatar_cli.families.portrait.geometry import personal_pose
from avatar_cli.families.portrait.landmarks import LIPS
from avatar_cli.families.portrait.likeness import has_human_proportions, hides_mouth
from avatar_cli.families.portrait.motion_basis import load_motion_basis


@pytest.fixture(scope="module")
def canonical(face):
    return personal_pose(face.landmarks, load_motion_basis().shape)[1]


def covered(picture, landmarks, colour, margin=6):
    """The picture with a bar over the mouth."""
    left, top = (landmarks[list(LIPS), :2].min(axis=0) - margin).astype(int)
    right, bottom = (landmarks[list(LIPS), :2].max(axis=0) + margin).astype(int)
    image = picture.copy()
    image[top:bottom, left:right] = colour
    return image


def test_people_have_human_proportions(canonical):
    assert has_human_proportions(canonical)
    assert has_human_proportions(load_motion_basis().shape)


def test_a_short_narrow_face_with_large_eyes_and_a_small_nose_is_drawn(canonical):
    shorter, narrower, smaller_nose, open_eyes = (canonical.copy() for _ in range(4))
    shorter[shorter[:, 1] > 0, 1] *= 0.75
    narrower[[234, 454], 0] *= 0.9
    smaller_nose[[98, 327], 0] *= 0.7
    open_eyes[[145, 374], 1] += 0.05
    parts = [changed - canonical for changed in (shorter, narrower, smaller_nose, open_eyes)]
    assert not has_human_proportions(canonical + sum(parts))
    for part in parts:  # a person may have any one of them
        assert has_human_proportions(canonical + part)


def test_a_nose_that_ends_high_is_that_of_an_animal(canonical):
    animal = canonical.copy()
    animal[1, 1] = animal[168, 1] + 0.19 * np.linalg.norm(animal[454] - animal[234])
    assert not has_human_proportions(animal)


def test_a_visible_mouth_is_not_hidden(picture, face):
    assert not hides_mouth(picture, face.landmarks)
    blurred = cv2.GaussianBlur(picture, (0, 0), 3)
    assert not hides_mouth(blurred, face.landmarks)
    assert not hides_mouth((picture * 0.1).astype(np.uint8), face.landmarks)


@pytest.mark.parametrize("colour", [(0, 0, 0), (120, 160, 200), (255, 255, 255)])
def test_a_bar_over_the_mouth_hides_it(picture, face, colour):
    assert hides_mouth(covered(picture, face.landmarks, colour), face.landmarks)


def test_a_mouth_is_judged_alike_in_a_large_picture(picture, face):
    for image in (picture, covered(picture, face.landmarks, (0, 0, 0))):
        large = cv2.resize(image, None, fx=6, fy=6, interpolation=cv2.INTER_CUBIC)
        points = (face.landmarks + 0.5) * 6 - 0.5
        assert hides_mouth(large, points) == hides_mouth(image, face.landmarks)
