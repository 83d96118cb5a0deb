from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from avatar_cli.families.portrait.canvas import compose
from avatar_cli.families.portrait.landmarks import LEFT_EYE, RIGHT_EYE
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from avatar_cli.media.image_in import Photo
from avatar_cli.protocol.job import Fit

BACKGROUND = (10, 200, 30)
SHAPE = load_motion_basis().shape
FACE_HEIGHT = float(np.ptp(SHAPE[:, 1]))  # e
SIZES = [(1280, 720), (720, 1280), (512, 512), (854, 480)]


def face_at(x, y, height):
    """Landmarks of the mean face with its nose root at x, y."""
    return SHAPE * (height / FACE_HEIGHT) + [x, y, 0]


def composed(picture, landmarks, size, fit, background):
    scene = np.full((size[1], size[0], 3), background, np.uint8)
    return compose(Photo(Path("me.png"), picture, None), landmarks, scene, fit)


def noise(width, height):
    small = np.random.default_rng(0).integers(60, 255, (height // 8 + 1, width // 8 + 1, 3), np.uint8)
    picture = cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)
    picture[..., 1] = np.minimum(picture[..., 1], 150)  # never the background's green
    return picture


def has_bars(canvas):
    return bool((canvas.image == BACKGROUND).all(axis=2).any())


@pytest.mark.parametrize("fit", Fit)
def test_a_picture_of_the_right_size_stays_as_it_is(fit):
    picture = noise(640, 360)
    canvas = composed(picture, face_at(320, 150, 170), (640, 360), fit, BACKGROUND)
    assert np.array_equal(canvas.image, picture)
    assert np.array_equal(canvas.transform, [[1, 0, 0], [0, 1, 0]])


@settings(max_examples=60, deadline=None)
@given(
    st.integers(40, 900),
    st.integers(40, 900),
    st.sampled_from(SIZES),
    st.sampled_from(Fit),
    st.floats(0.1, 0.9),
    st.floats(0.1, 0.9),
    st.floats(0.05, 1.2),
)
def test_the_canvas_always_has_the_size_of_the_video(width, height, size, fit, x, y, share):
    picture = np.full((height, width, 3), 90, np.uint8)
    canvas = composed(picture, face_at(x * width, y * height, share * height), size, fit, BACKGROUND)
    assert canvas.image.shape == (size[1], size[0], 3)
    scales = canvas.transform[0, 0], canvas.transform[1, 1]
    assert scales[0] == pytest.approx(scales[1], rel=0.06)  # no visible stretching


@pytest.mark.parametrize("fit", Fit)
@pytest.mark.parametrize("size", SIZES)
def test_the_transform_says_where_a_pixel_went(fit, size):
    picture = np.full((600, 800, 3), 40, np.uint8)
    cv2.circle(picture, (400, 260), 6, (255, 255, 255), -1)
    canvas = composed(picture, face_at(400, 260, 260), size, fit, (0, 0, 0))
    light = np.maximum(canvas.image[..., 0].astype(float) - 60, 0)
    rows, columns = np.indices(light.shape)
    centre = np.array([(light * columns).sum(), (light * rows).sum()]) / light.sum()
    assert np.allclose(canvas.transform @ [400, 260, 1], centre, atol=0.2)


@pytest.mark.parametrize("size", SIZES)
def test_padding_shows_the_whole_picture_between_bars(size):
    picture = noise(700, 500)
    canvas = composed(picture, face_at(350, 200, 200), size, Fit.PAD, BACKGROUND)
    corners = np.array([[0, 0, 1], [699, 0, 1], [0, 499, 1], [699, 499, 1]]) @ canvas.transform.T
    assert (corners >= -0.5).all()
    assert (corners <= np.array(size) - 0.5).all()
    assert has_bars(canvas)
    filled = ~(canvas.image == BACKGROUND).all(axis=2)
    assert filled.any(axis=0).all() or filled.any(axis=1).all()


@pytest.mark.parametrize("size", SIZES)
def test_cropping_keeps_the_head_inside_without_bars_where_there_is_room(size):
    picture = noise(2000, 2000)
    landmarks = face_at(700, 900, 300)
    canvas = composed(picture, landmarks, size, Fit.CROP, BACKGROUND)
    assert not has_bars(canvas)
    flat = landmarks[:, :2] @ canvas.transform[:, :2].T + canvas.transform[:, 2]
    height = np.ptp(flat[:, 1])
    assert flat[:, 1].min() - 0.3 * height >= 0  # room for the hair
    assert flat[:, 1].max() < size[1]
    eyes = flat[[*LEFT_EYE.upper_lid, *RIGHT_EYE.upper_lid], 1].mean()
    assert 0.25 < eyes / size[1] < 0.45


def test_a_head_that_nearly_fills_the_video_keeps_its_hair():
    landmarks = face_at(640, 480, 480)
    canvas = composed(noise(1280, 960), landmarks, (1280, 720), Fit.CROP, BACKGROUND)
    top = (canvas.transform @ [*landmarks[10, :2], 1])[1]
    assert top > 0.3 * 480 * canvas.transform[1, 1]


def test_cropping_keeps_as_much_of_the_scene_as_it_can():
    canvas = composed(noise(1280, 960), face_at(640, 400, 300), (1280, 720), Fit.CROP, BACKGROUND)
    assert canvas.transform[0, 0] == 1.0


def test_a_small_face_in_a_large_picture_is_enlarged_but_not_upscaled():
    canvas = composed(noise(4000, 3000), face_at(2000, 900, 200), (1280, 720), Fit.CROP, BACKGROUND)
    assert 0.7 < canvas.transform[0, 0] <= 1.0
    tiny = composed(noise(4000, 3000), face_at(2000, 900, 60), (1280, 720), Fit.CROP, BACKGROUND)
    assert tiny.transform[0, 0] == pytest.approx(1.0, abs=0.01)


def test_a_head_larger_than_the_part_gets_bars_and_stays_whole():
    landmarks = face_at(150, 210, 260)
    canvas = composed(noise(300, 400), landmarks, (1280, 720), Fit.CROP, BACKGROUND)
    flat = landmarks[:, :2] @ canvas.transform[:, :2].T + canvas.transform[:, 2]
    assert has_bars(canvas)
    assert (flat.min(axis=0) >= 0).all()
    assert (flat.max(axis=0) < (1280, 720)).all()


def test_a_head_a_little_too_large_loses_hair_instead_of_getting_thin_bars():
    landmarks = face_at(200, 210, 175)
    canvas = composed(noise(400, 400), landmarks, (1280, 720), Fit.CROP, BACKGROUND)
    flat = landmarks[:, :2] @ canvas.transform[:, :2].T + canvas.transform[:, 2]
    assert not has_bars(canvas)
    assert flat[:, 1].min() >= 0
    assert flat[:, 1].max() < 720


def test_a_face_at_the_edge_does_not_pull_the_crop_outside():
    canvas = composed(noise(1600, 900), face_at(30, 300, 250), (720, 720), Fit.CROP, BACKGROUND)
    assert not has_bars(canvas)


def disc(width, height, softness):
    """Opacity of a soft disc in the middle."""
    y, x = np.mgrid[0:height, 0:width]
    distance = np.hypot(x - width / 2, y - height / 2) - min(width, height) / 3
    return np.uint8(255 * np.clip(0.5 - distance / softness, 0, 1))


def cut_out(pixels, opacity, size, fit, background):
    scene = np.full((size[1], size[0], 3), background, np.uint8)
    height, width = opacity.shape
    landmarks = face_at(width / 2, height / 2, height / 3)
    return compose(Photo(Path("me.png"), pixels, opacity), landmarks, scene, fit)


@pytest.mark.parametrize("fit", Fit)
def test_an_opaque_picture_is_no_cutout(fit):
    opaque = np.full((360, 640), 255, np.uint8)
    canvas = cut_out(noise(640, 360), opaque, (640, 360), fit, BACKGROUND)
    assert canvas.cutout is None
    assert not canvas.shows_scene


def test_a_part_that_is_opaque_is_no_cutout():
    opacity = np.full((900, 900), 255, np.uint8)
    opacity[880:] = 0
    canvas = cut_out(noise(900, 900), opacity, (1280, 720), Fit.CROP, BACKGROUND)
    assert canvas.cutout is None
    assert not canvas.shows_scene


def test_bars_show_the_scene():
    picture = noise(300, 360)
    scene = noise(640, 360)
    photo = Photo(Path("me.png"), picture, None)
    canvas = compose(photo, face_at(150, 180, 120), scene, Fit.PAD)
    assert canvas.shows_scene
    assert canvas.cutout is None
    assert (canvas.picture.left, canvas.picture.right) == (170, 470)
    assert np.array_equal(canvas.image[:, 170:470], picture)
    assert np.array_equal(canvas.image[:, :170], scene[:, :170])
    assert np.array_equal(canvas.image[:, 470:], scene[:, 470:])


@pytest.mark.parametrize("size", [(200, 200), (400, 400), (1000, 1000), (900, 400)])
@pytest.mark.parametrize("fit", Fit)
def test_the_image_is_the_cutout_over_the_scene(size, fit):
    canvas = cut_out(noise(400, 400), disc(400, 400, 30), size, fit, BACKGROUND)
    share = canvas.cutout[..., 3:] / 255
    expected = canvas.cutout[..., :3] + np.array(BACKGROUND) * (1 - share)
    assert np.abs(canvas.image - expected).max() <= 1
    assert (canvas.cutout[..., :3] <= canvas.cutout[..., 3:]).all()
    assert canvas.image[0, 0].tolist() == list(BACKGROUND)


@pytest.mark.parametrize("size", [(200, 200), (1000, 1000)])
@pytest.mark.parametrize("softness", [1, 30])
def test_colours_under_transparent_pixels_never_show(size, softness):
    opacity = disc(400, 400, softness)
    gray = np.full((400, 400, 3), 128, np.uint8)
    garish = gray.copy()
    garish[opacity == 0] = (255, 0, 255)
    canvas = cut_out(garish, opacity, size, Fit.PAD, (128, 128, 128))
    # Gray over gray is gray all over, edges included, whatever the file hides.
    assert np.abs(canvas.image.astype(int) - 128).max() <= 2


def test_a_half_transparent_picture_lets_the_scene_through_everywhere():
    canvas = cut_out(noise(400, 400), np.full((400, 400), 128, np.uint8), (400, 400), Fit.CROP, BACKGROUND)
    assert (canvas.cutout[..., 3] == 128).all()
    assert canvas.shows_scene


@pytest.mark.parametrize(
    ("top", "bottom", "below"), [(40, 400, 0), (40, 398, 0), (40, 340, 200), (0, 400, 200)]
)
def test_a_person_cut_out_down_to_the_lower_edge_stands_on_that_of_a_tall_video(top, bottom, below):
    opacity = np.zeros((400, 400), np.uint8)
    opacity[top:bottom, 100:300] = 255
    canvas = cut_out(noise(400, 400), opacity, (400, 800), Fit.PAD, BACKGROUND)
    assert canvas.image.shape[0] - canvas.picture.bottom == below
    assert canvas.picture.height == 400
