import cv2
import numpy as np
import pytest

from avatar_cli.assets import asset_path
from avatar_cli.families.portrait.geometry import euler_angles, personal_pose
from avatar_cli.families.portrait.landmarks import BLENDSHAPES
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from avatar_cli.protocol.errors import EnvironmentProblem


def distance(landmarks, others, unit_of=None):
    """Root mean square distance in the picture, in shares of the eye distance of `unit_of` or the others."""
    mesh = others if unit_of is None else unit_of
    unit = np.linalg.norm(mesh[33, :2] - mesh[263, :2])
    return float(np.sqrt(((landmarks[:, :2] - others[:, :2]) ** 2).sum(axis=1).mean()) / unit)


def row_of_heads(picture, sides):
    """Heads of several sizes, each in its own 420 pixels."""
    scene = np.full((420, 420 * len(sides), 3), 120, np.uint8)
    for index, side in enumerate(sides):
        small = cv2.resize(picture[20:276, 95:351], (side, side), interpolation=cv2.INTER_AREA)
        scene[:side, 420 * index : 420 * index + side] = small
    return scene


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


def test_faces_that_only_the_second_look_shows_are_listed_when_every_face_is_asked_for(tracker, picture):
    scene = row_of_heads(picture, [420, 200, 200])
    assert len(tracker.faces(scene)) == 1
    faces = tracker.faces(scene, every=True)
    assert len(faces) == 3
    assert np.array_equal(faces[0].landmarks, tracker.track(scene).landmarks)
    middles = sorted(float(face.landmarks[:, 0].mean()) // 420 for face in faces)
    assert middles == [0, 1, 2]


def test_no_face_is_listed_twice(tracker, picture):
    for image in (picture, picture[:, 210:], row_of_heads(picture, [420, 420, 300])):
        faces = tracker.faces(np.ascontiguousarray(image), every=True)
        centres = np.array([face.landmarks[:, :2].mean(axis=0) for face in faces])
        gaps = np.linalg.norm(centres[:, None] - centres[None], axis=-1) + 1e9 * np.eye(len(faces))
        assert len(faces) == 1 or gaps.min() > faces[-1].extent


@pytest.mark.parametrize("brightness", [0.2, 0.05, 0.02])
def test_a_face_in_the_dark_is_found(tracker, picture, face, brightness):
    noise = np.random.default_rng(1).normal(0, 1, picture.shape)
    dark = (picture * brightness + noise).clip(0, 255).round().astype(np.uint8)
    assert distance(tracker.track(dark).landmarks, face.landmarks) < 0.05


@pytest.mark.parametrize("side", [128, 64, 48])
def test_a_face_in_a_tiny_picture_is_found(tracker, picture, face, side):
    tiny = tracker.track(cv2.resize(picture, (side, side), interpolation=cv2.INTER_AREA))
    assert distance((tiny.landmarks + 0.5) * 512 / side - 0.5, face.landmarks) < 0.1


@pytest.mark.parametrize("degrees", [-60, 60])
def test_a_face_on_its_side_is_found(tracker, picture, face, degrees):
    turn = cv2.getRotationMatrix2D((256, 256), degrees, 1.0)
    turned = tracker.track(cv2.warpAffine(picture, turn, (512, 512), borderValue=(120, 120, 120)))
    expected = face.landmarks[:, :2] @ turn[:, :2].T + turn[:, 2]
    assert distance(turned.landmarks, expected) < 0.08


@pytest.mark.parametrize(("left", "bottom"), [(215, 512), (0, 160)])
def test_a_face_cut_by_the_edge_keeps_its_points_where_it_is_seen(tracker, picture, face, left, bottom):
    cut = tracker.track(np.ascontiguousarray(picture[:bottom, left:]))
    seen = (face.landmarks[:, 0] > left + 5) & (face.landmarks[:, 1] < bottom - 5)
    assert 0.5 < seen.mean() < 1
    assert distance(cut.landmarks[seen] + (left, 0, 0), face.landmarks[seen], unit_of=face.landmarks) < 0.1


@pytest.mark.parametrize("shape", [(300, 4000), (4000, 300)])
def test_a_face_in_a_very_long_picture_is_found(tracker, picture, shape):
    scene = np.full((*shape, 3), 110, np.uint8)
    scene[20:280, 20:280] = cv2.resize(picture, (260, 260), interpolation=cv2.INTER_AREA)
    found = tracker.track(scene)
    assert (found.landmarks[:, :2] > 20).all()
    assert (found.landmarks[:, :2] < 280).all()


def test_the_search_in_a_picture_many_times_longer_than_wide_ends(tracker, monkeypatch):
    windows = []
    for detector in (tracker._near, tracker._far):
        monkeypatch.setattr(detector, "detect", lambda image, more: windows.extend(more) or [])
    assert tracker.faces(np.full((512, 40_000, 3), 110, np.uint8), every=True) == []
    assert 200 < len(windows) < 1200


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
