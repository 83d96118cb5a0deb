import numpy as np
import pytest

from avatar_cli.families.portrait.landmarks import LEFT_EYE, RIGHT_EYE
from avatar_cli.families.portrait.latents import MOUTH, UPPER
from avatar_cli.families.portrait.measures import (
    measure_mouth,
    measure_upper_face,
    mouth_matrix,
    trust_gaze,
    upper_latents,
)
from avatar_cli.families.portrait.motion_basis import load_motion_basis

EYES = (LEFT_EYE, RIGHT_EYE)


@pytest.fixture
def face():
    return load_motion_basis().shape.astype(np.float64)


def upper(moved, face):
    return dict(
        zip(UPPER, upper_latents(measure_upper_face(moved), measure_upper_face(face)).tolist(), strict=True)
    )


def test_the_mouth_is_measured_as_the_channels_say(face):
    measured = dict(zip(MOUTH, measure_mouth(face).tolist(), strict=True))
    y = face[:, 1]
    assert measured["jaw_drop"] == pytest.approx(y[[152, 148, 377]].mean(), abs=1e-6)
    assert measured["gap"] == pytest.approx(y[[14, 87, 317]].mean() - y[[13, 82, 312]].mean(), abs=1e-6)
    assert measured["width"] == pytest.approx(face[291, 0] - face[61, 0], abs=1e-6)
    assert measured["corner_y"] == pytest.approx(y[[61, 291]].mean(), abs=1e-6)
    assert measured["lower_roll"] == pytest.approx(
        y[[17, 84, 314]].mean() - y[[14, 87, 317]].mean(), abs=1e-6
    )
    assert measured["upper_roll"] == pytest.approx(y[[13, 82, 312]].mean() - y[[0, 37, 267]].mean(), abs=1e-6)
    assert measured["shift_x"] == pytest.approx(face[[61, 291, 0, 17], 0].mean(), abs=1e-6)
    assert measured["protrude"] == pytest.approx(face[[0, 13, 14, 17], 2].mean(), abs=1e-6)


def test_many_meshes_are_measured_at_once(face):
    meshes = face + np.random.default_rng(0).normal(size=(3, 5, 478, 3))
    assert measure_mouth(meshes).shape == (3, 5, 9)
    assert np.allclose(measure_mouth(meshes)[2, 4], measure_mouth(meshes[2, 4]), atol=1e-5)


def test_differences_do_not_depend_on_where_the_face_is(face):
    differences = [MOUTH.index(name) for name in ("gap", "width", "lower_roll", "upper_roll")]
    moved = mouth_matrix()[differences].sum(axis=1)
    assert np.abs(moved).max() < 1e-6


def test_a_neutral_face_has_upper_latents_of_zero(face):
    assert set(upper(face, face).values()) == {0.0}


def test_meeting_lids_are_a_blink(face):
    closed = face.copy()
    for eye in EYES:
        closed[list(eye.upper_lid)] = closed[list(eye.lower_lid)]
    assert upper(closed, face)["blink"] == pytest.approx(1.0)
    assert not trust_gaze(measure_upper_face(closed), measure_upper_face(face))


def test_brows_up_and_brows_down_are_two_channels(face):
    for shift, name in ((-0.05, "brow_raise"), (0.05, "brow_lower")):
        moved = face.copy()
        for eye in EYES:
            moved[list(eye.brow), 1] += shift
        values = upper(moved, face)
        assert values.pop(name) == pytest.approx(0.05, abs=1e-5)
        assert all(value == pytest.approx(0, abs=1e-5) for value in values.values())


def test_gaze_is_counted_in_iris_radii_to_the_images_right_and_down(face):
    moved = face.copy()
    for eye in EYES:
        iris = face[list(eye.iris)]
        radius = np.linalg.norm(iris[1:, :2] - iris[0, :2], axis=1).mean()
        moved[list(eye.iris)] += [0.5 * radius, 0.25 * radius, 0]
    values = upper(moved, face)
    assert values["gaze_x"] == pytest.approx(0.5, abs=1e-4)
    assert values["gaze_y"] == pytest.approx(0.25, abs=1e-4)


def test_a_squint_raises_the_lower_lids(face):
    moved = face.copy()
    for eye in EYES:
        moved[list(eye.lower_lid[1:-1]), 1] -= 0.02
    assert upper(moved, face)["squint"] == pytest.approx(0.02, abs=1e-5)
