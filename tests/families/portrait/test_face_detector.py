import cv2
import numpy as np
import pytest

from avatar_cli.assets import asset_path
from avatar_cli.families.portrait.face_detector import (
    FULL_RANGE,
    SHORT_RANGE,
    Detection,
    FaceDetector,
    Window,
    merged,
)
from avatar_cli.media.image_in import load_photo

LEFT, TOP, SIDE = 700, 200, 450  # of the portrait in the scene
RANGES = pytest.mark.parametrize("params", [SHORT_RANGE, FULL_RANGE], ids=["short", "full"])


@pytest.fixture(scope="module")
def picture():
    return load_photo(asset_path("demo/reference.png")).pixels


@pytest.fixture(scope="module")
def scene(picture):
    """The portrait small in a wide picture."""
    image = np.full((720, 1280, 3), 120, np.uint8)
    small = cv2.resize(picture, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    image[TOP : TOP + SIDE, LEFT : LEFT + SIDE] = small
    return image


def box(left, score, size=100.0):
    return Detection(left, 0.0, size, size, score, np.full((6, 2), left, np.float32))


@RANGES
def test_keypoints_lie_on_the_features_they_name(params, picture):
    (face,) = FaceDetector(params).detect(picture, [Window(0, 0, 512)])
    left_eye, right_eye, nose, mouth, left_ear, right_ear = face.keypoints
    assert left_ear[0] < left_eye[0] < nose[0] < right_eye[0] < right_ear[0]
    assert max(left_eye[1], right_eye[1]) < nose[1] < mouth[1]
    assert face.left < left_eye[0] < right_eye[0] < face.left + face.width
    assert face.top < left_eye[1] < mouth[1] < face.top + face.height


def test_both_networks_see_the_same_face(picture):
    near, far = (
        FaceDetector(params).detect(picture, [Window(0, 0, 512)]) for params in (SHORT_RANGE, FULL_RANGE)
    )
    eyes = near[0].keypoints[:2]
    between = np.linalg.norm(eyes[1] - eyes[0])
    assert np.abs(far[0].keypoints[:4] - near[0].keypoints[:4]).max() < 0.25 * between


def test_the_full_range_sees_faces_that_are_too_small_for_the_short_range(scene):
    whole = [Window(0, 0, 1280)]
    assert FaceDetector(SHORT_RANGE).detect(scene, whole) == []
    (face,) = FaceDetector(FULL_RANGE).detect(scene, whole)
    x, y = face.keypoints[2]
    assert LEFT < x < LEFT + SIDE
    assert TOP < y < TOP + SIDE


@RANGES
def test_a_window_shows_a_face_where_it_is_in_the_picture(params, picture, scene):
    detector = FaceDetector(params)
    (alone,) = detector.detect(picture, [Window(0, 0, 512)])
    (found,) = detector.detect(scene, [Window(LEFT, TOP, SIDE)])
    expected = (alone.keypoints + 0.5) * SIDE / 512 + (LEFT, TOP)
    assert np.abs(found.keypoints - expected).max() < 6


@RANGES
def test_a_window_may_reach_beyond_the_picture(params, picture):
    detector = FaceDetector(params)
    (inside,) = detector.detect(picture, [Window(0, 0, 512)])
    (beyond,) = detector.detect(picture[:400], [Window(0, 0, 512)])
    assert np.abs(beyond.keypoints - inside.keypoints).max() < 6


def test_no_windows_show_no_faces(picture):
    assert FaceDetector(SHORT_RANGE).detect(picture, []) == []


def test_overlapping_boxes_become_one_weighted_by_score():
    (face,) = merged([box(0.0, 0.6), box(20.0, 0.9)])
    assert face.left == pytest.approx(12.0)
    assert face.score == 0.9
    assert face.keypoints == pytest.approx(np.full((6, 2), 12.0))


def test_boxes_side_by_side_stay_apart_and_the_largest_comes_first():
    faces = merged([box(0.0, 0.9), box(150.0, 0.6, size=120.0)])
    assert [face.left for face in faces] == [150.0, 0.0]
