import cv2
import numpy as np
import pytest

from avatar_cli.families.portrait.geometry import eye_distance
from avatar_cli.families.portrait.same_person import is_same_person, unlikeness
from avatar_cli.families.portrait.tokens import sample_colours
from avatar_cli.media.image_in import load_photo

PEOPLE = (
    "p02_grace_hopper_glasses_closed.jpg",
    "p03_man_official_dark_skin_teeth.jpg",
    "p08_man_darkskin_smile.jpg",
    "p15_asian_woman_senior.jpg",
    "p27_grid_s_swiz3n_man_darkskin.png",
    "p28_grid_lbax4n_man_glasses.png",
)


def colours(image, tracker):
    face = tracker.track(image)
    return sample_colours(image, face.landmarks, eye_distance(face.landmarks))


@pytest.mark.parametrize(("alpha", "beta", "scale"), [(1.3, 0, 1), (0.7, 10, 1), (1, 0, 0.6)])
def test_light_and_size_do_not_make_another_person(picture, tracker, alpha, beta, scale):
    again = cv2.resize(cv2.convertScaleAbs(picture, alpha=alpha, beta=beta), None, fx=scale, fy=scale)
    assert is_same_person(colours(picture, tracker), colours(again, tracker))


def test_people_are_told_apart(media, tracker):
    seen = [colours(load_photo(media / "portraits" / name).pixels, tracker) for name in PEOPLE]
    alike = [unlikeness(one, other) for number, one in enumerate(seen) for other in seen[:number]]
    assert min(alike) > 2.5
    assert not any(is_same_person(one, seen[number - 1]) for number, one in enumerate(seen))


def test_it_does_not_matter_which_comes_first():
    one, other = np.random.default_rng(3).random((2, 128, 3)).astype(np.float32)
    assert unlikeness(one, other) == pytest.approx(unlikeness(other, one))
    assert unlikeness(one, one) == pytest.approx(0, abs=1e-6)
