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
    "p03_man_official_dark_skin_teeth.jpg",
    "p07_woman_black_glasses.jpg",
    "p08_man_darkskin_smile.jpg",
    "p11_family_three_faces.jpg",
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


def test_a_bar_over_the_mouth_is_told(portraits, tracker):
    image = pixels(portraits / "v_mouth_occluded.png")
    (warning,) = face_warnings(image, tracker.track(image))
    assert "mouth seems to be hidden" in warning


def test_a_stretched_photo_of_a_person_is_not_called_a_drawing(portraits, tracker):
    image = pixels(portraits / "v_odd_511x333.png")
    assert face_warnings(image, tracker.track(image)) == []
