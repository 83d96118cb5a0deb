import numpy as np
import pytest

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.person_mask import mask_person, person_of_cutout

WHOLE = Box(0, 0, 200, 200)


def cutout(opacity):
    picture = np.zeros((200, 200, 4), np.uint8)
    picture[..., 3] = opacity
    return picture


def bust(most=255):
    y, x = np.mgrid[0:200, 0:200]
    return np.where((np.hypot(x - 100, y - 70) < 40) | ((y > 120) & (abs(x - 100) < 80)), most, 0)


@pytest.mark.parametrize("most", [255, 100])
def test_the_person_is_where_the_cutout_is_most_opaque(most):
    person = person_of_cutout(cutout(bust(most)), WHOLE)
    assert np.array_equal(person, (bust() > 0).astype(np.float32))


def test_an_evenly_transparent_picture_tells_no_person():
    assert person_of_cutout(cutout(128), WHOLE) is None


def test_bars_around_an_evenly_transparent_picture_tell_no_person():
    opacity = np.zeros((200, 200), np.uint8)
    opacity[:, 60:140] = 128
    assert person_of_cutout(cutout(opacity), Box(60, 0, 140, 200)) is None


def test_a_round_picture_has_a_frame_and_tells_no_person():
    y, x = np.mgrid[0:200, 0:200]
    assert person_of_cutout(cutout(np.where(np.hypot(x - 99.5, y - 99.5) < 100, 255, 0)), WHOLE) is None


class TwoViews:
    """Takes all of the first picture for a person, and of the second the left half."""

    def __init__(self):
        self.seen = []

    def mask(self, image):
        self.seen.append(image.shape[:2])
        mask = np.ones(image.shape[:2], np.float32)
        if len(self.seen) == 2:
            mask[:, image.shape[1] // 2 :] = 0
        return mask


def test_what_one_view_alone_takes_for_a_person_is_doubtful_and_bars_are_none():
    image = np.zeros((200, 400, 3), np.uint8)
    landmarks = np.array([[180.0, 80.0, 0], [220.0, 120.0, 0]])
    views = TwoViews()
    mask = mask_person(views, image, Box(50, 0, 350, 200), landmarks)
    assert views.seen == [(200, 300), (97, 97)]
    assert not mask[:, :50].any()
    assert not mask[:, 350:].any()
    assert mask[100, 185] == 1.0
    assert mask[100, 215] < 0.2
    assert mask[100, 300] == 1.0
