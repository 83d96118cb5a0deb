import cv2
import numpy as np
import pytest

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.decoder.bars import picture_between_bars
from avatar_cli.families.portrait.decoder.glasses import glasses_on_bridge
from avatar_cli.families.portrait.decoder.head_limits import limit_head_motion, soft_limit, without_tremor
from avatar_cli.families.portrait.decoder.masks import blend, soften
from avatar_cli.families.portrait.decoder.photo import RefinedImage, density_for


@pytest.fixture
def photo():
    return np.random.default_rng(0).integers(0, 255, (90, 160, 3), np.uint8)


def test_a_photo_without_bars_is_all_picture(photo):
    assert picture_between_bars(photo) == Box(0, 0, 160, 90)


def test_bars_of_one_colour_on_both_sides_are_no_picture(photo):
    photo[:, :25] = photo[:, -25:] = (7, 8, 9)
    assert picture_between_bars(photo) == Box(25, 0, 135, 90)


def test_a_plain_backdrop_on_one_side_is_picture(photo):
    photo[:, :25] = (7, 8, 9)
    assert picture_between_bars(photo) == Box(0, 0, 160, 90)


@pytest.mark.parametrize(("rim", "expected"), [(0, 0.0), (5, 1.0)])
def test_a_bar_across_the_nose_bridge_is_glasses(rim, expected):
    shade = np.linspace(170, 200, 300)[:, None, None]
    face = np.clip(shade * np.array([1.0, 0.8, 0.7]), 0, 255) + np.zeros((300, 300, 1))
    face = np.ascontiguousarray(face.astype(np.uint8))
    if rim:
        cv2.line(face, (100, 140), (200, 140), (30, 25, 20), rim)
    points = np.zeros((478, 2))
    points[133], points[362] = (130, 150), (170, 150)
    assert glasses_on_bridge(face, points, 120.0) == pytest.approx(expected, abs=0.05)


def test_small_motion_passes_the_limit_unchanged_and_large_motion_never_does():
    assert soft_limit(-0.05, 0.1) == -0.05
    values = np.array([soft_limit(x, 0.1) for x in np.linspace(0, 3, 400)])
    assert (np.diff(values) >= 0).all()
    assert values.max() <= 0.1


def test_tremor_is_stilled_without_a_jump():
    assert without_tremor(-0.015, 0.02) == 0.0
    values = np.array([without_tremor(x, 0.02) for x in np.linspace(-0.1, 0.1, 201)])
    assert np.diff(values).max() < 0.0011
    assert values[-1] == pytest.approx(0.08)


def test_a_turned_photo_turns_less():
    motion = np.radians([8.0, 8.0, 2.0, 0, 0, 0])
    frontal = limit_head_motion(motion, 0.0)
    turned = limit_head_motion(motion, np.radians(-35))
    assert np.degrees(frontal[0]) > 7
    assert np.degrees(turned[:2]).max() < 3.6


@pytest.mark.parametrize("channel", range(6))
def test_limits_bend_speed_without_a_kink_and_keep_usual_motion(channel):
    reach = (0.25, 0.25, 0.25, 0.6, 0.6, 0.25)[channel]
    values = np.linspace(-reach, reach, 2001)
    motions = np.zeros((len(values), 6))
    motions[:, channel] = values
    shown = np.array([limit_head_motion(motion, 0.0)[channel] for motion in motions])
    speed = np.diff(shown) / np.diff(values)
    assert speed.min() >= 0
    assert np.abs(np.diff(speed)).max() < 0.02
    if channel < 3:
        usual = np.abs(values) < np.radians(4.5)
        assert np.array_equal(shown[usual], values[usual])


def test_how_far_a_head_may_turn_falls_smoothly_with_the_yaw_of_the_photo():
    turns = np.array(
        [limit_head_motion(np.full(6, 1.0), yaw)[0] for yaw in np.radians(np.arange(0, 60, 0.5))]
    )
    assert (np.diff(turns) <= 0).all()
    assert np.degrees(np.abs(np.diff(turns))).max() < 0.5


def test_blending_equal_pictures_changes_nothing(photo):
    picture = np.dstack([photo, photo[..., :1]])
    mask = np.random.default_rng(1).integers(0, 256, (90, 160), np.uint8)
    assert np.array_equal(blend(picture, picture, mask), picture)


@pytest.mark.parametrize("sigma", [1.0, 6.0])
def test_softening_keeps_the_area_and_spreads_as_a_gaussian(sigma):
    mask = np.zeros((120, 120), np.uint8)
    mask[:, 60:] = 255
    edge = soften(mask, sigma)[60].astype(float)
    slope = np.diff(edge) / 255
    assert slope.sum() == pytest.approx(1.0, abs=0.02)
    x = np.arange(119) - 58.5
    centre = (slope * x).sum()
    assert np.sqrt((slope * (x - centre) ** 2).sum()) == pytest.approx(sigma, rel=0.25)


def pixel_positions(density, shift=0.0):
    y, x = np.mgrid[0:90, 0:160].astype(np.float32)
    return (np.stack([x, y], axis=-1) + np.float32(shift)) * np.float32(density)


@pytest.mark.parametrize("density", [1, 2])
def test_an_unmoved_photo_is_drawn_bit_for_bit(photo, density):
    drawn = RefinedImage(photo, density).draw(pixel_positions(density))
    assert np.array_equal(drawn[..., :3], photo)


def test_a_refined_photo_stays_sharper_half_a_pixel_away(photo):
    photo = cv2.GaussianBlur(photo, (0, 0), 0.8)

    def detail(picture):
        return cv2.Laplacian(picture[5:-5, 5:-5, 1].astype(np.float32), cv2.CV_32F).var()

    plain, refined = (RefinedImage(photo, density).draw(pixel_positions(density, 0.5)) for density in (1, 2))
    assert detail(refined) > 1.3 * detail(plain)
    assert detail(refined) < 1.1 * detail(photo)


def test_a_refined_photo_keeps_straight_ramps():
    ramp = np.repeat(np.arange(0, 240, 2, dtype=np.uint8)[None, :, None], 40, axis=0).repeat(3, axis=2)
    y, x = np.mgrid[4:36, 4:110].astype(np.float32)
    drawn = RefinedImage(ramp, 2).draw(2 * np.stack([x + np.float32(0.5), y], axis=-1))
    assert drawn[..., 0] == pytest.approx(2 * x + 1, abs=1)


def test_only_moving_parts_of_moderate_size_are_refined():
    assert density_for(Box(0, 0, 600, 700)) == 2
    assert density_for(Box(0, 0, 1200, 900)) == 1


def test_a_refined_cutout_does_not_shine_beside_its_sharp_edge():
    cutout = np.zeros((40, 40, 4), np.uint8)
    cutout[10:30, 10:30] = (128, 128, 128, 255)
    y, x = np.mgrid[0:80, 0:80].astype(np.float32)
    drawn = RefinedImage(cutout, 2).draw(np.stack([x, y], axis=-1)).astype(int)
    seen = drawn[..., 3] > 0
    assert np.count_nonzero(drawn[..., 3] == 255) > 1000
    shown = drawn[seen][:, :3] * (255 / drawn[seen][:, 3:])
    assert np.abs(shown - 128).max() < 10
