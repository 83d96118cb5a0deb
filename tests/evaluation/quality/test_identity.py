import cv2
import numpy as np
import pytest

from avatar_cli.evaluation.quality.identity import FaceEmbedder, aligned_face, cosines
from avatar_cli.families.portrait.tracker import FaceTracker
from avatar_cli.protocol.errors import InputError


@pytest.fixture(scope="module")
def embedder(media):
    return FaceEmbedder(media / "models" / "MobileFaceNet.tflite")


@pytest.fixture(scope="module")
def tracker():
    return FaceTracker()


def test_cosines_are_taken_to_the_first():
    vectors = [np.array(vector, np.float32) for vector in ((1, 0), (1, 0), (0.6, 0.8))]

    found = cosines(vectors, [0, 5, 10])

    assert found.lowest == pytest.approx(0.6)
    assert found.mean == pytest.approx((1 + 1 + 0.6) / 3)


def test_the_end_is_compared_with_the_beginning_by_mean_faces():
    """The first half of the beginning, the other, what lies between, and the end, a frame in five each."""
    vectors = [np.array(vector, np.float32) for vector in ((1, 0), (0, 1), (0.6, 0.8), (0.6, -0.8))]

    found = cosines(np.repeat(vectors, 2, axis=0), [0, 5, 10, 15, 25, 35, 45, 59])

    assert found.within == pytest.approx(0)  # frames 0 to 9 and 10 to 19
    assert found.end == pytest.approx((0.6 - 0.8) / np.sqrt(2), abs=1e-6)


def test_an_aligned_face_has_its_eyes_where_networks_look_for_them(photo, tracker):
    turned = np.ascontiguousarray(np.rot90(photo))
    upright = tracker.track(photo).landmarks
    landmarks = upright.copy()
    landmarks[:, 0], landmarks[:, 1] = upright[:, 1], photo.shape[1] - 1 - upright[:, 0]

    first, second = aligned_face(photo, upright), aligned_face(turned, landmarks)

    assert first.shape == (112, 112, 3)
    assert np.abs(first.astype(int) - second).mean() < 2
    eyes = tracker.track(cv2.resize(first, (448, 448))).landmarks[[468, 473], :2] / 4
    assert eyes == pytest.approx(np.array([(38.3, 51.7), (73.5, 51.5)]), abs=3)


def test_a_file_that_is_no_network_is_bad_input(tmp_path):
    path = tmp_path / "face.tflite"
    path.write_bytes(b"not a network")

    with pytest.raises(InputError, match="no face-recognition network"):
        FaceEmbedder(path)


def test_the_same_person_is_nearer_than_another(media, embedder, tracker, photo):
    other = cv2.imread(str(media / "portraits" / "p03_man_official_dark_skin_teeth.jpg"))[..., ::-1].copy()
    smaller = cv2.resize(photo, (360, 360), interpolation=cv2.INTER_AREA)
    own, again, another = (
        embedder.embed(image, tracker.track(image).landmarks) for image in (photo, smaller, other)
    )

    assert own @ again > 0.9
    assert own @ another < 0.4
    assert np.linalg.norm(own) == pytest.approx(1, abs=1e-5)
