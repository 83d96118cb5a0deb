import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from avatar_cli.families.portrait.geometry import (
    HEAD_PIVOT,
    Pose,
    euler_angles,
    eye_distance,
    fit_pose,
    fit_similarity,
    mean_shape,
    mirror_index,
    mirrored,
    moved_pose,
    personal_pose,
    relative_pose,
    rotation_matrix,
    upright,
)
from avatar_cli.families.portrait.motion_basis import load_motion_basis

angle = st.floats(-0.8, 0.8)
NOSE = np.array([0.0, 0.0, -1.0])
CROWN = np.array([0.0, -1.0, 0.0])


@pytest.fixture(scope="module")
def basis():
    return load_motion_basis()


@given(angle, angle, angle)
def test_euler_angles_invert_the_rotation(yaw, pitch, roll):
    assert euler_angles(rotation_matrix(yaw, pitch, roll)) == pytest.approx((yaw, pitch, roll), abs=1e-9)


def test_signs_of_the_angles_are_those_of_the_image():
    assert (rotation_matrix(0.3, 0, 0) @ NOSE)[0] > 0  # nose to the right
    assert (rotation_matrix(0, 0.3, 0) @ NOSE)[1] > 0  # nose down
    assert (rotation_matrix(0, 0, 0.3) @ CROWN)[0] > 0  # head leans to the right


def test_a_similarity_is_found_again(basis):
    pose = Pose(170.0, rotation_matrix(0.4, -0.2, 0.1), np.array([600.0, 300.0, 20.0]))
    found = fit_pose(pose.to_pixels(basis.shape), basis.shape)
    assert found.scale == pytest.approx(170.0)
    assert np.allclose(found.rotation, pose.rotation)
    assert np.allclose(found.translation, pose.translation)


def test_the_fit_never_reflects():
    shape = np.random.default_rng(0).normal(size=(20, 3))
    found = fit_similarity(shape * [-1, 1, 1], shape)
    assert np.linalg.det(found.rotation) == pytest.approx(1.0)


def test_weights_decide_which_points_count():
    shape = np.random.default_rng(0).normal(size=(20, 3))
    points = shape.copy()
    points[:5] += 3.0
    weights = np.r_[np.zeros(5), np.ones(15)]
    assert np.allclose(fit_similarity(points, shape, weights).to_canonical(points)[5:], shape[5:])


def test_expression_does_not_move_the_pose(basis):
    pose = Pose(150.0, rotation_matrix(0.1, 0.2, 0.0), np.array([300.0, 200.0, 0.0]))
    talking = basis.shape.copy()
    talking[basis.shape[:, 1] > basis.shape[2, 1]] += [0, 0.2, 0]
    assert np.allclose(fit_pose(pose.to_pixels(talking), basis.shape).rotation, pose.rotation)


def test_a_person_is_measured_in_units_of_the_own_eye_distance(basis):
    wide = basis.shape * 1.3
    pose, mesh = personal_pose(Pose(100.0, np.eye(3), np.zeros(3)).to_pixels(wide), basis.shape)
    assert eye_distance(mesh) == pytest.approx(1.0)
    assert pose.scale == pytest.approx(130.0, rel=1e-3)


@given(angle, angle, angle, st.floats(-0.2, 0.2), st.floats(-0.2, 0.2), st.floats(-0.1, 0.1))
def test_a_relative_pose_leads_from_the_reference_to_the_pose(yaw, pitch, roll, right, down, log_scale):
    reference = Pose(160.0, rotation_matrix(0.2, -0.1, 0.05), np.array([640.0, 300.0, 10.0]))
    motion = np.array([yaw, pitch, roll, right, down, log_scale])
    assert np.allclose(relative_pose(moved_pose(reference, motion), reference), motion, atol=1e-6)


def test_a_head_turns_about_its_neck():
    reference = Pose(160.0, np.eye(3), np.array([640.0, 300.0, 0.0]))
    turned = moved_pose(reference, np.array([0.3, 0.2, 0.1, 0, 0, 0]))
    neck, nose = np.array(HEAD_PIVOT), np.array([0.0, 0.4, -0.4])
    assert np.allclose(turned.to_pixels(neck), reference.to_pixels(neck))
    assert np.linalg.norm(turned.to_pixels(nose) - reference.to_pixels(nose)) > 20


def test_every_landmark_has_one_partner(basis):
    partner = mirror_index(basis.shape)
    assert np.array_equal(partner, basis.mirror)
    assert np.array_equal(partner[partner], np.arange(478))
    assert partner[33] == 263
    assert partner[10] == 10


def test_the_mean_shape_is_symmetric_and_upright(basis):
    rng = np.random.default_rng(1)
    faces = [
        Pose(50.0 + 10 * i, rotation_matrix(*rng.normal(0, 0.1, 3)), rng.normal(0, 50, 3)).to_pixels(
            basis.shape + rng.normal(0, 0.01, basis.shape.shape)
        )
        for i in range(4)
    ]
    mean = mean_shape(faces, basis.mirror)
    assert np.allclose(mirrored(mean, basis.mirror), mean, atol=1e-6)
    assert np.allclose(upright(mean), mean, atol=1e-5)
    assert np.abs(mean - basis.shape).max() < 0.04
