import numpy as np
import pytest

from avatar_cli.families.portrait.compositing import composite, plain_colours, premultiplied


@pytest.fixture
def colours():
    return np.random.default_rng(0).integers(0, 256, (40, 50, 3), np.uint8)


@pytest.fixture
def scene():
    return np.random.default_rng(1).integers(0, 256, (40, 50, 3), np.uint8)


def over(picture, scene):
    frame = np.empty_like(scene)
    composite(picture, scene, frame)
    return frame


def test_an_opaque_picture_hides_the_scene_and_a_transparent_one_shows_it_bit_for_bit(colours, scene):
    assert np.array_equal(over(premultiplied(colours, np.full((40, 50), 255, np.uint8)), scene), colours)
    assert np.array_equal(over(premultiplied(colours, np.zeros((40, 50), np.uint8)), scene), scene)


def test_every_opacity_mixes_picture_and_scene(colours, scene):
    opacity = np.random.default_rng(2).integers(0, 256, (40, 50), np.uint8)
    share = opacity[..., None] / 255
    expected = colours * share + scene * (1 - share)
    assert np.abs(over(premultiplied(colours, opacity), scene) - expected).max() <= 1.01


def test_a_frame_may_be_part_of_a_larger_one(colours, scene):
    opacity = np.random.default_rng(2).integers(0, 256, (40, 50), np.uint8)
    picture = premultiplied(colours, opacity)
    larger = np.full((60, 80, 3), 7, np.uint8)
    composite(picture, scene, larger[10:50, 20:70])
    assert np.array_equal(larger[10:50, 20:70], over(picture, scene))
    larger[10:50, 20:70] = 7
    assert (larger == 7).all()


def test_plain_colours_undo_the_opacity(colours):
    opacity = np.full((40, 50), 128, np.uint8)
    found = plain_colours(premultiplied(colours, opacity)).astype(int)
    assert np.abs(found - colours).max() <= 2
