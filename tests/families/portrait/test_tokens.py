import cv2
import numpy as np
import pytest

from avatar_cli.families.portrait.latents import REFERENCE_TOKEN_FEATURES, REFERENCE_TOKENS
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from avatar_cli.families.portrait.tokens import TOKEN_POINTS, reference_tokens, sample_colours
from avatar_cli.families.portrait.tracker import FaceTracker

BASIS = load_motion_basis()


@pytest.fixture(scope="module")
def landmarks(picture):
    return FaceTracker().track(picture).landmarks


def test_token_points_are_distinct_and_closed_under_mirroring():
    assert len(set(TOKEN_POINTS)) == REFERENCE_TOKENS
    assert set(BASIS.mirror[list(TOKEN_POINTS)].tolist()) == set(TOKEN_POINTS)


def test_tokens_are_finite_and_of_order_one(picture, landmarks):
    tokens = reference_tokens(picture, landmarks, BASIS.shape)
    assert tokens.shape == (REFERENCE_TOKENS, REFERENCE_TOKEN_FEATURES)
    assert tokens.dtype == np.float32
    assert np.abs(tokens).max() < 3
    assert ((tokens[:, 3:6] >= 0) & (tokens[:, 3:6] <= 1)).all()


def test_tokens_do_not_depend_on_size_and_tilt_of_the_picture(picture, landmarks):
    tokens = reference_tokens(picture, landmarks, BASIS.shape)
    turn = cv2.getRotationMatrix2D((256, 256), 25, 1.0)
    turned = cv2.warpAffine(picture, turn, (512, 512))
    large = cv2.resize(turned, (1536, 1536), interpolation=cv2.INTER_CUBIC)
    flat = (landmarks[:, :2] @ turn[:, :2].T + turn[:, 2] + 0.5) * 3 - 0.5
    moved = np.concatenate([flat, landmarks[:, 2:] * 3], axis=1)
    again = reference_tokens(large, moved, BASIS.shape)
    shape = [0, 1, 2, 6, 7, 8, 9, 10, 11]
    assert np.abs(again[:, shape] - tokens[:, shape]).max() < 1e-3
    assert np.abs(again[:, 3:6] - tokens[:, 3:6]).mean() < 0.05


def test_another_face_has_other_tokens(picture, landmarks):
    tokens = reference_tokens(picture, landmarks, BASIS.shape)
    average = reference_tokens(picture, BASIS.shape * 100 + [256, 200, 0], BASIS.shape)
    assert np.abs(average[:, 6:9]).max() < 1e-4
    assert np.abs(tokens[:, 6:9]).max() > 0.03


def test_colours_are_those_of_the_picture():
    picture = np.zeros((400, 400, 3), np.uint8)
    picture[:, :200] = (255, 0, 0)
    picture[:, 200:] = (0, 0, 255)
    colours = sample_colours(picture, BASIS.shape * 120 + [200, 180, 0], 120)
    x = BASIS.shape[list(TOKEN_POINTS), 0]
    assert np.allclose(colours[x < -0.1], [1, 0, 0], atol=0.02)
    assert np.allclose(colours[x > 0.1], [0, 0, 1], atol=0.02)


def test_points_beyond_the_picture_take_the_colour_of_its_edge():
    picture = np.full((100, 100, 3), 128, np.uint8)
    assert np.allclose(sample_colours(picture, BASIS.shape * 300, 300), 128 / 255)
