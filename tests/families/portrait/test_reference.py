from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
import pytest

from avatar_cli.families.portrait.landmarks import BLENDSHAPES
from avatar_cli.families.portrait.latents import CHANNELS
from avatar_cli.families.portrait.measures import measure_mouth
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from avatar_cli.families.portrait.person_mask import PersonMasker
from avatar_cli.families.portrait.reference import encode_reference, resting_latents
from avatar_cli.families.portrait.tracker import FaceTracker
from avatar_cli.media.image_in import Photo
from avatar_cli.protocol.errors import InputError
from avatar_cli.protocol.job import Fit, Picture


def encode(pixels, width, height, networks, *, fit=Fit.CROP, face=None, opacity=None):
    picture = Picture(width, height, Fraction(25), fit, "black", face)
    return encode_reference(
        Photo(Path("me.png"), pixels, opacity), np.zeros((height, width, 3), np.uint8), picture, *networks
    )


@pytest.fixture(scope="module")
def networks():
    return FaceTracker(), PersonMasker()


@pytest.fixture(scope="module")
def two_faces(picture):
    """The portrait, and to its right a smaller one."""
    scene = np.zeros((512, 800, 3), np.uint8)
    scene[:, :512] = picture
    scene[100:388, 512:] = cv2.resize(picture[:360, 40:400], (288, 288), interpolation=cv2.INTER_AREA)
    return scene


@pytest.fixture(scope="module")
def encoded(picture, networks):
    return encode(picture, 1280, 720, networks)


def test_everything_has_the_size_of_the_video(encoded):
    assert encoded.image.shape == (720, 1280, 3)
    assert encoded.person.shape == (720, 1280)
    assert encoded.tokens.shape == (128, 12)
    assert encoded.rest.shape == (len(CHANNELS),)


def test_mesh_and_pose_agree(encoded):
    assert np.allclose(encoded.pose.to_canonical(encoded.landmarks), encoded.canonical, atol=1e-4)
    assert np.linalg.norm(encoded.canonical[33] - encoded.canonical[263]) == pytest.approx(1.0, abs=1e-5)
    assert encoded.eye_distance == pytest.approx(
        np.linalg.norm(encoded.landmarks[33] - encoded.landmarks[263]), rel=1e-4
    )


def test_the_mesh_is_where_a_tracker_finds_the_face_on_the_canvas(encoded, networks):
    found = networks[0].track(encoded.image).landmarks
    error = np.linalg.norm((found - encoded.landmarks)[:, :2], axis=1).mean()
    assert error < 0.02 * encoded.eye_distance


@pytest.mark.parametrize("size", [(720, 1280), (320, 180), (512, 512)])
@pytest.mark.parametrize("fit", Fit)
def test_the_canonical_mesh_does_not_depend_on_the_canvas(picture, networks, encoded, size, fit):
    other = encode(picture, *size, networks, fit=fit)
    assert np.abs(other.canonical - encoded.canonical).max() < 0.02


def test_the_person_is_masked_and_the_background_is_not(encoded):
    x, y = encoded.landmarks[1, :2].round().astype(int)
    assert encoded.person[y, x] == 1.0
    assert encoded.person[5, 5] < 0.2
    assert 0.1 < encoded.person.mean() < 0.7


def test_the_face_belongs_to_the_person_even_where_the_segmentation_fails(picture, networks):
    class Blind:
        def mask(self, image):
            return np.zeros(image.shape[:2], np.float32)

    encoded = encode(picture, 640, 360, (networks[0], Blind()))
    x, y = encoded.landmarks[1, :2].round().astype(int)
    assert encoded.person[y, x] == 1.0
    assert encoded.person[0, 0] == 0.0


def test_a_smile_with_teeth_rests_with_an_open_mouth(encoded):
    gap = measure_mouth(encoded.canonical)[1]
    rest = dict(zip(CHANNELS, encoded.rest.tolist(), strict=True))
    assert rest.pop("gap") == pytest.approx(gap, abs=1e-6)
    assert gap > 0.05
    smile = encoded.blendshapes[[BLENDSHAPES.index(f"mouthSmile{side}") for side in ("Left", "Right")]].mean()
    assert smile > 0.8
    # This grin shows its upper teeth in full: its upper lip is raised, and its jaw is not lowered.
    assert -0.7 * gap <= rest.pop("upper_lip_y") + 1e-6 < -0.5 * gap  # y points down
    assert rest.pop("jaw_drop") == 0.0
    assert rest.pop("width") == pytest.approx(0.14 * smile, abs=1e-6)
    assert rest.pop("corner_y") == pytest.approx(-0.055 * smile, abs=1e-6)
    assert set(rest.values()) == {0.0}


def test_a_closed_mouth_rests_at_zero():
    closed = load_motion_basis().shape.copy()
    closed[[14, 87, 317]] = closed[[13, 82, 312]]
    assert not resting_latents(closed, smile=0.0).any()


def test_crossed_lips_rest_at_zero():
    shape = load_motion_basis().shape.copy()
    shape[[14, 87, 317], 1] = shape[[13, 82, 312], 1] - 0.02
    assert not resting_latents(shape, smile=0.0).any()


def test_teeth_tell_how_much_of_an_opening_is_a_raised_lip_and_how_much_a_lowered_jaw():
    mesh = load_motion_basis().shape.copy()
    mesh[[14, 87, 317], 1] = mesh[[13, 82, 312], 1] + 0.16

    def lip_and_jaw(teeth):
        rest = dict(zip(CHANNELS, resting_latents(mesh, smile=0.0, teeth=teeth), strict=True))
        return rest["upper_lip_y"], rest["jaw_drop"]

    lip, jaw = lip_and_jaw(None)
    raised_lip, raised_jaw = lip_and_jaw(0.11)
    assert raised_lip == pytest.approx(-0.08, abs=1e-6)
    assert raised_lip < lip
    assert raised_jaw < jaw
    assert lip_and_jaw(0.04)[0] > lip
    # An edge far down is a row of lower teeth, or none at all.
    assert lip_and_jaw(0.16)[0] == pytest.approx(-0.7 * 0.16, abs=1e-6)


def test_a_good_picture_gives_no_warning(encoded):
    assert encoded.warnings == ()


def test_no_face_is_an_error(networks):
    with pytest.raises(InputError, match=r"No face was found in me\.png"):
        encode(np.full((300, 300, 3), 90, np.uint8), 640, 360, networks)


def test_of_several_faces_the_largest_speaks_and_the_user_is_told_how_to_choose(two_faces, networks):
    encoded = encode(two_faces, 800, 512, networks, fit=Fit.PAD)
    assert encoded.landmarks[1, 0] < 512
    (warning,) = encoded.warnings
    assert "2 faces" in warning
    assert "--face 1 to 2, counted from the left" in warning


def test_a_chosen_face_speaks_without_a_remark(two_faces, networks):
    encoded = encode(two_faces, 800, 512, networks, fit=Fit.PAD, face=2)
    assert encoded.landmarks[1, 0] > 512
    assert encoded.warnings == ()


def test_a_face_cut_by_the_edge_is_told(picture, networks):
    encoded = encode(np.ascontiguousarray(picture[:, 188:]), 640, 360, networks)
    (warning,) = encoded.warnings
    assert "edge" in warning


def test_half_a_face_is_an_error(picture, networks):
    with pytest.raises(InputError, match=r"% of the face lies outside me\.png"):
        encode(np.ascontiguousarray(picture[:, 215:]), 640, 360, networks)


def test_what_lies_under_a_transparent_background_changes_nothing_of_the_face(picture, networks):
    opacity = np.zeros(picture.shape[:2], np.uint8)
    opacity[30:230, 140:310] = 255
    clean, dirty = picture.copy(), picture.copy()
    clean[opacity == 0] = 0
    dirty[opacity == 0] = np.tile(picture, (1, 2, 1))[:, 230:742][opacity == 0]  # another face beside it
    first, second = (encode(pixels, 640, 360, networks, opacity=opacity) for pixels in (clean, dirty))
    assert np.array_equal(first.landmarks, second.landmarks)
    assert first.warnings == second.warnings == ()


def test_a_small_face_is_told(picture, networks):
    encoded = encode(np.ascontiguousarray(picture[::4, ::4]), 640, 360, networks)
    assert any("small" in warning for warning in encoded.warnings)


def on_background(pixels, networks, background, *, opacity=None, fit=Fit.CROP):
    picture = Picture(640, 360, Fraction(25), fit, background, None)
    scene = np.full((360, 640, 3), 90, np.uint8)
    return encode_reference(Photo(Path("me.png"), pixels, opacity), scene, picture, *networks)


def test_a_background_that_nobody_will_see_is_told(picture, networks):
    hidden = on_background(picture, networks, "red").warnings
    assert any("background is not seen" in warning for warning in hidden)
    assert on_background(picture, networks, "black").warnings == ()
    assert on_background(picture, networks, "red", fit=Fit.PAD).warnings == ()
    opacity = np.full(picture.shape[:2], 255, np.uint8)
    opacity[:, :200] = 0
    assert on_background(picture, networks, "red", opacity=opacity).cutout is not None


def test_the_cutout_says_who_is_the_person(picture, networks):
    opacity = np.zeros(picture.shape[:2], np.uint8)
    opacity[:, 120:400] = 255
    encoded = on_background(picture, networks, "red", opacity=opacity)
    assert "background is not seen" not in " ".join(encoded.warnings)
    assert np.array_equal(encoded.person, encoded.cutout[..., 3] / np.float32(255))


def test_what_shines_through_a_half_transparent_person_does_not_hide_them(picture, networks):
    stripes = np.zeros((360, 640, 3), np.uint8)
    stripes[:, (np.arange(640) // 10) % 2 == 0] = (235, 225, 200)
    photo = Photo(Path("me.png"), picture, np.full(picture.shape[:2], 128, np.uint8))
    striped = encode_reference(
        photo, stripes, Picture(640, 360, Fraction(25), Fit.CROP, "stripes.png", None), *networks
    )
    on_gray = on_background(picture, networks, "gray", opacity=photo.opacity)
    assert np.array_equal(striped.person, on_gray.person)
    assert striped.person.mean() > 0.1


def test_bars_that_a_large_head_needs_are_told_with_a_size_that_has_none(picture, networks):
    close_up = np.ascontiguousarray(picture[30:200, 140:310])
    told = [warning for warning in encode(close_up, 640, 360, networks).warnings if "Bars" in warning]
    assert len(told) == 1
    width, height = map(int, told[0].rsplit(" ", 1)[1].rstrip(".").split("x"))
    assert height == 360
    assert not any("Bars" in warning for warning in encode(close_up, width, height, networks).warnings)
