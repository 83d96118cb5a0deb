"""Faces in the real pictures of AVATAR_TEST_MEDIA: which are found, and what is said about them."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from avatar_cli.families.portrait.speaker import find_speaker, seen_pixels
from avatar_cli.families.portrait.suitability import check_suitable, face_warnings
from avatar_cli.media.image_in import load_photo
from avatar_cli.protocol.errors import InputError

NOT_A_PHOTO = "does not look like a photo of a human face"
COUNTS = {
    "p10_cafe_several_small.jpg": 3,
    "p11_family_three_faces.jpg": 3,
    "p14_six_faces.jpg": 6,
    "p41_woman_studio_profile_2366.png": 1,
    "p44_man_full_body_train.png": 1,
    "p45_elf_dark_fantasy.jpg": 1,
    "v_extreme_wide_4000x300.png": 1,
    "v_large_6144.jpg": 1,
    "v_six_faces_grid.jpg": 6,
}
DRAWINGS_AND_ANIMALS = (
    "n04_dog_shiba.jpg",
    "p48_doctor_cartoon_alpha.png",
    "p50_illustration_girl_green.png",
    "p53_3d_boy_cartoon.png",
    "p54_3d_cartoon_blond.jpg",
)
PEOPLE = (
    "p01_astronaut_smile_teeth.png",
    "p02_grace_hopper_glasses_closed.jpg",
    "p07_woman_black_glasses.jpg",
    "p08_man_darkskin_smile.jpg",
    "p15_asian_woman_senior.jpg",
    "p19_man_open_mouth.jpg",
    "p27_grid_s_swiz3n_man_darkskin.png",
    "p28_grid_lbax4n_man_glasses.png",
    "p30_flux_man_closed.png",
    "p32_flux_woman_closed.png",
    "p37_woman_silver_hair.jpg",
    "p43_woman_street_720p.png",
    "p44_man_full_body_train.png",
)


@pytest.fixture(scope="module")
def portraits(media):
    return media / "portraits"


def pixels(path):
    return seen_pixels(load_photo(path))


@pytest.mark.parametrize(("name", "count"), COUNTS.items())
def test_small_dark_turned_and_several_faces_are_found(portraits, tracker, name, count):
    assert find_speaker(Path(name), pixels(portraits / name), None, tracker).faces == count


def test_six_faces_are_counted_from_the_left(portraits, tracker):
    image = pixels(portraits / "p14_six_faces.jpg")
    faces = [find_speaker(Path("six"), image, number, tracker).face for number in range(1, 7)]
    eyes = [float(face.landmarks[[33, 263], 0].mean()) for face in faces]
    assert eyes == sorted(eyes)
    assert np.diff(eyes).min() > 30


@pytest.mark.parametrize("name", ["n01_no_face_coffee.png", "n03_cat_face.png", "v_tiny24.png"])
def test_pictures_without_a_face_are_refused(portraits, tracker, name):
    with pytest.raises(InputError, match="No face was found"):
        find_speaker(Path(name), pixels(portraits / name), None, tracker)


def test_a_face_of_seven_pixels_is_found_and_refused_with_its_size(portraits, tracker):
    image = pixels(portraits / "v_tiny64.png")
    speaker = find_speaker(Path("tiny.png"), image, None, tracker)
    with pytest.raises(InputError, match="too small, 7 pixels"):
        check_suitable(Path("tiny.png"), image, speaker.face)


@pytest.mark.parametrize("name", DRAWINGS_AND_ANIMALS)
def test_drawn_characters_and_animals_render_with_a_warning(portraits, tracker, name):
    image = pixels(portraits / name)
    face = find_speaker(Path(name), image, None, tracker).face
    check_suitable(Path(name), image, face)
    (warning,) = face_warnings(image, face)
    assert NOT_A_PHOTO in warning


@pytest.mark.parametrize("name", PEOPLE)
def test_people_render_without_a_warning(portraits, tracker, name):
    image = pixels(portraits / name)
    for face in tracker.faces(image, every=True):
        check_suitable(Path(name), image, face)
        assert face_warnings(image, face) == []


def test_no_frame_of_a_real_clip_is_called_a_drawing_or_hidden(portraits, tracker):
    clips = sorted((portraits.parent / "video").glob("*.m*4")) + sorted(
        (portraits.parent / "video").glob("*.mpg")
    )
    assert len(clips) > 10
    for clip in clips:
        video = cv2.VideoCapture(str(clip))
        for position in (10, 60):
            video.set(cv2.CAP_PROP_POS_FRAMES, position)
            found, frame = video.read()
            assert found
            image = cv2.cvtColor(frame, cv2.COLOR_BGR2RGB)
            said = " ".join(face_warnings(image, tracker.track(image)))
            assert NOT_A_PHOTO not in said
            assert "hidden" not in said


def turned(image, quarters):
    return np.ascontiguousarray(np.rot90(image, quarters))


@pytest.mark.parametrize(
    ("name", "grins"), [("p03_man_official_dark_skin_teeth.jpg", 1), ("p14_six_faces.jpg", 5)]
)
def test_a_grin_is_told(portraits, tracker, name, grins):
    image = pixels(portraits / name)
    told = [" ".join(face_warnings(image, face)) for face in tracker.faces(image, every=True)]
    assert sum("smile is broad" in said for said in told) == grins


@pytest.mark.parametrize("name", PEOPLE[:11])
def test_an_upside_down_photo_is_refused(portraits, tracker, name):
    with pytest.raises(InputError, match=rf"The face in {name} is upside down: turn the picture by 180 deg"):
        find_speaker(Path(name), turned(pixels(portraits / name), 2), None, tracker)


@pytest.mark.parametrize(("quarters", "side"), [(1, "right"), (3, "left")])
@pytest.mark.parametrize("name", ["p02_grace_hopper_glasses_closed.jpg", "p32_flux_woman_closed.png"])
def test_a_photo_that_lies_on_its_side_is_told(portraits, tracker, name, quarters, side):
    image = turned(pixels(portraits / name), quarters)
    (warning,) = face_warnings(image, find_speaker(Path(name), image, None, tracker).face)
    assert "lies on its side" in warning
    assert f"turn the picture to the {side}" in warning


def shaded(image, shape, colour, opacity):
    """The image with a shape, [H, W] of 0 and 1, painted over it, its edge softened."""
    soft = cv2.GaussianBlur(shape.astype(np.float32), (0, 0), 0.8)[..., None] * opacity
    return (image * (1 - soft) + np.array(colour) * soft).astype(np.uint8)


def with_dark_glasses(image, face):
    """Lenses that let a tenth through, and a bridge."""
    shape = np.zeros(image.shape[:2], np.uint8)
    points = face.landmarks[:, :2]
    size = np.linalg.norm(points[263] - points[33])
    angle = np.degrees(np.arctan2(*(points[263] - points[33])[::-1]))
    for corners in ((33, 133), (362, 263)):
        middle = points[list(corners)].mean(axis=0)
        radii = (round(0.27 * size), round(0.2 * size))
        cv2.ellipse(shape, middle.astype(int).tolist(), radii, angle, 0, 360, 1, -1)
    cv2.line(shape, points[133].astype(int).tolist(), points[362].astype(int).tolist(), 1, round(0.04 * size))
    return shaded(image, shape, (20, 20, 20), 0.9)


def with_mask(image, face):
    """A surgical mask with folds."""
    points = face.landmarks[:, :2]
    size = np.linalg.norm(points[263] - points[33])
    outline = points[[117, 205, 136, 150, 176, 152, 400, 379, 365, 425, 346, 195]]
    shape = np.zeros(image.shape[:2], np.uint8)
    cv2.fillConvexPoly(shape, cv2.convexHull(outline.astype(np.float32)).round().astype(np.int32), 1)
    folds = shape.copy()
    folds[(np.arange(len(image)) - points[1, 1]) % (0.22 * size) > 0.04 * size] = 0
    return shaded(shaded(image, shape, (150, 190, 215), 1.0), folds, (132, 168, 190), 1.0)


@pytest.mark.parametrize("name", PEOPLE[:11])
def test_dark_glasses_and_masks_are_told(portraits, tracker, name):
    image = pixels(portraits / name)
    face = tracker.track(image)
    for changed, said in ((with_dark_glasses, "dark glasses"), (with_mask, "mouth seems to be hidden")):
        hidden = changed(image, face)
        (warning,) = face_warnings(hidden, tracker.track(hidden))
        assert said in warning


def test_a_bar_over_the_mouth_is_told(portraits, tracker):
    image = pixels(portraits / "v_mouth_occluded.png")
    (warning,) = face_warnings(image, tracker.track(image))
    assert "mouth seems to be hidden" in warning


def test_a_stretched_photo_of_a_person_is_not_called_a_drawing(portraits, tracker):
    image = pixels(portraits / "v_odd_511x333.png")
    assert face_warnings(image, tracker.track(image)) == []
