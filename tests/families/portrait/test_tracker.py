import cv2
import numpy as np
import pytest

from avatar_cli.assets import asset_path
from avatar_cli.families.portrait.geometry import euler_angles, personal_pose
from avatar_cli.families.portrait.landmarks import BLENDSHAPES
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from avatar_cli.families.portrait.tracker import FaceTracker
from avatar_cli.media.image_in import load_photo
from avatar_cli.protocol.errors import EnvironmentProblem


@pytest.fixture(scope="module")
def tracker():
    return FaceTracker()


@pytest.fixture(scope="module")
def picture():
    return load_photo(asset_path("demo/reference.png")).pixels


@pytest.fixture(scope="module")
def face(tracker, picture):
    return tracker.track(picture)


def distance(landmarks, others):
    """Root mean square distance in the picture, in shares of the eye distance."""
    unit = np.linalg.norm(others[33, :2] - others[263, :2])
    return float(np.sqrt(((landmarks[:, :2] - others[:, :2]) ** 2).sum(axis=1).mean()) / unit)


def test_a_face_has_its_points_scores_and_presence(face):
    assert face.landmarks.shape == (478, 3)
    assert face.landmarks.dtype == np.float32
    assert face.blendshapes.shape == (len(BLENDSHAPES),)
    assert face.presence > 0.9


def test_the_demo_portrait_smiles_at_the_camera(face):
    scores = dict(zip(BLENDSHAPES, face.blendshapes, strict=True))
    assert scores["mouthSmileLeft"] > 0.6
    assert scores["eyeBlinkLeft"] < 0.3
    pose, _ = personal_pose(face.landmarks, load_motion_basis().shape)
    yaw, _, roll = np.degrees(euler_angles(pose.rotation))
    assert abs(yaw) < 6
    assert abs(roll) < 6


def test_points_lie_on_the_features_they_name(face, picture):
    x, y = face.landmarks[:, 0], face.landmarks[:, 1]
    assert x[33] < x[133] < x[362] < x[263]
    assert y[10] < y[159] < y[145] < y[1] < y[13] < y[14] < y[152]
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(float)
    at = [int(v) for v in face.landmarks[468, :2].round()]
    cheek = [int(v) for v in face.landmarks[50, :2].round()]
    assert grey[at[1], at[0]] < grey[cheek[1], cheek[0]] - 20  # a pupil is darker than the cheek


def test_a_mirrored_picture_gives_mirrored_points(tracker, picture, face):
    mirrored = tracker.track(np.ascontiguousarray(picture[:, ::-1])).landmarks[load_motion_basis().mirror]
    mirrored[:, 0] = picture.shape[1] - 1 - mirrored[:, 0]
    assert distance(mirrored, face.landmarks) < 0.03


@pytest.mark.parametrize("degrees", [-30, 30])
def test_a_tilted_picture_gives_tilted_points(tracker, picture, face, degrees):
    height, width = picture.shape[:2]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1.0)
    tilted = tracker.track(cv2.warpAffine(picture, turn, (width, height)))
    expected = face.landmarks[:, :2] @ turn[:, :2].T + turn[:, 2]
    assert distance(tilted.landmarks, expected) < 0.03


def test_a_picture_eight_times_as_large_gives_the_same_face(tracker, picture, face):
    large = cv2.resize(picture, None, fx=8, fy=8, interpolation=cv2.INTER_CUBIC)
    found = tracker.track(large)
    assert distance((found.landmarks + 0.5) / 8 - 0.5, face.landmarks) < 0.02


def test_a_face_too_small_for_the_first_look_is_found_by_the_search(tracker, picture):
    small = cv2.resize(picture, (200, 200), interpolation=cv2.INTER_AREA)
    scene = np.full((720, 1280, 3), 120, np.uint8)
    scene[300:500, 900:1100] = small
    assert tracker.detect(scene) == []
    found = tracker.track(scene)
    assert 900 < found.landmarks[:, 0].mean() < 1100
    assert 300 < found.landmarks[:, 1].mean() < 500


def test_several_faces_come_largest_first(tracker, picture):
    small = cv2.resize(picture, (340, 340), interpolation=cv2.INTER_AREA)
    scene = np.zeros((512, 900, 3), np.uint8)
    scene[100:440, 20:360] = small
    scene[:, 388:] = picture
    faces = tracker.faces(scene)
    assert len(faces) == 2
    widths = [np.ptp(face.landmarks[:, 0]) for face in faces]
    assert widths[0] > 1.3 * widths[1]
    assert distance(tracker.track(scene).landmarks, faces[0].landmarks) == 0


@pytest.mark.parametrize("level", [0, 128, 255])
def test_an_empty_picture_has_no_face(tracker, level):
    assert tracker.track(np.full((300, 400, 3), level, np.uint8)) is None


def test_noise_has_no_face(tracker):
    noise = np.random.default_rng(0).integers(0, 256, (400, 600, 3), np.uint8)
    assert tracker.track(noise) is None


def test_a_picture_of_a_few_pixels_has_no_face(tracker, picture):
    assert tracker.track(cv2.resize(picture, (24, 24), interpolation=cv2.INTER_AREA)) is None
    assert tracker.track(picture[:1, :1]) is None


def test_a_missing_network_is_named():
    with pytest.raises(EnvironmentProblem, match=r"landmarks/nothing\.tflite"):
        asset_path("landmarks/nothing.tflite")
