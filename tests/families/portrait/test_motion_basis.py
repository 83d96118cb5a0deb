import numpy as np
import pytest

from avatar_cli.families.portrait.geometry import eye_distance, mirrored
from avatar_cli.families.portrait.landmarks import FACE_OVAL, LEFT_EYE, LIPS, RIGHT_EYE, STABLE
from avatar_cli.families.portrait.latents import CHANNELS, MOUTH, POSE
from avatar_cli.families.portrait.measures import measure_mouth
from avatar_cli.families.portrait.motion_basis import BASIS_CHANNELS, load_motion_basis
from avatar_cli.protocol.errors import EnvironmentProblem

SYMMETRIC = [name for name in BASIS_CHANNELS if name != "shift_x"]


@pytest.fixture(scope="module")
def basis():
    return load_motion_basis()


def latents(**values):
    vector = np.zeros(len(CHANNELS), np.float32)
    for name, value in values.items():
        vector[CHANNELS.index(name)] = value
    return vector


def test_the_mean_face_is_in_the_canonical_frame(basis):
    assert np.allclose(basis.shape[168], 0, atol=1e-6)
    assert eye_distance(basis.shape) == pytest.approx(1.0, abs=1e-6)
    assert basis.shape[152, 1] > basis.shape[13, 1] > basis.shape[1, 1] > 0  # chin below lips below nose
    assert basis.shape[1, 2] < 0  # the nose points at the camera


@pytest.mark.parametrize("name", MOUTH)
def test_each_mouth_channel_moves_its_own_distance_and_no_other(basis, name):
    measured = measure_mouth(basis.displacement(latents(**{name: 0.1})))
    expected = [0.1 if channel == name else 0.0 for channel in MOUTH]
    assert measured == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize("name", ["blink", "gaze_x", "gaze_y", "squint", *POSE])
def test_lids_gaze_and_pose_move_no_vertex(basis, name):
    assert not basis.displacement(latents(**{name: 1.0})).any()


@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetric_channels_move_both_sides_alike(basis, name):
    moved = basis.displacement(latents(**{name: 0.1}))
    assert np.abs(mirrored(moved, basis.mirror) - moved).max() < 2e-3


@pytest.mark.parametrize("name", MOUTH)
def test_the_mouth_leaves_forehead_and_eyes_alone(basis, name):
    moved = np.abs(basis.displacement(latents(**{name: 0.1})))
    still = [index for index in STABLE if basis.shape[index, 1] < 0.1]
    assert moved[still].max() < 1e-6
    assert moved.max() > 0.04


def test_raised_brows_go_up_and_leave_the_mouth_alone(basis):
    moved = basis.displacement(latents(brow_raise=0.1))
    brows = [*LEFT_EYE.brow, *RIGHT_EYE.brow]
    assert moved[brows, 1].mean() == pytest.approx(-0.1, abs=0.01)
    assert np.abs(moved[list(LIPS)]).max() < 0.01
    assert np.array_equal(basis.displacement(latents(brow_lower=0.1)), -moved)


def test_an_open_jaw_takes_the_chin_along_and_not_the_forehead(basis):
    moved = basis.displacement(latents(jaw_drop=0.15, gap=0.2))
    chin, top = FACE_OVAL[18], FACE_OVAL[0]
    assert moved[chin, 1] > 0.1
    assert np.abs(moved[top]).max() < 1e-6


def test_displacement_takes_any_number_of_frames(basis):
    frames = np.random.default_rng(0).normal(size=(2, 3, len(CHANNELS))).astype(np.float32)
    assert basis.displacement(frames).shape == (2, 3, 478, 3)
    assert np.allclose(basis.displacement(frames)[1, 2], basis.displacement(frames[1, 2]), atol=1e-5)


def test_a_saved_basis_is_read_again(basis, tmp_path):
    basis.save(tmp_path / "basis.safetensors")
    again = load_motion_basis(tmp_path / "basis.safetensors")
    assert all(np.array_equal(getattr(again, name), value) for name, value in vars(basis).items())


def test_a_damaged_file_is_told(tmp_path):
    (tmp_path / "basis.safetensors").write_bytes(b"")
    with pytest.raises(EnvironmentProblem, match=r"basis\.safetensors is damaged"):
        load_motion_basis(tmp_path / "basis.safetensors")
