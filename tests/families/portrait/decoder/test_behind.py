"""The background that is made up behind a person."""

import cv2
import numpy as np
import pytest

from avatar_cli.families.portrait.decoder.behind import fill_behind

EYE_DISTANCE = 60
RED, BLUE = (200, 30, 30), (20, 40, 220)
CENTRE, RADII = (160, 120), (70, 90)


@pytest.fixture
def hidden():
    mask = np.zeros((240, 320), np.uint8)
    cv2.ellipse(mask, CENTRE, RADII, 0, 0, 360, 255, -1)
    return mask > 0


@pytest.fixture
def room(hidden):
    """A red wall on the left and a blue one on the right, and a person before both."""
    image = np.empty((240, 320, 3), np.uint8)
    image[:, : CENTRE[0]], image[:, CENTRE[0] :] = RED, BLUE
    image[hidden] = (0, 255, 0)
    return image


def test_nothing_changes_beside_the_person_and_nothing_of_them_is_left(room, hidden):
    filled = fill_behind(room, hidden, EYE_DISTANCE)
    assert np.array_equal(filled[~hidden], room[~hidden])
    assert filled[hidden][:, 1].max() <= max(RED[1], BLUE[1])


@pytest.mark.parametrize(("side", "colour"), [(-1, RED), (1, BLUE)])
def test_each_wall_goes_on_behind_the_person(room, hidden, side, colour):
    filled = fill_behind(room, hidden, EYE_DISTANCE)
    depths = np.arange(1, round(0.3 * EYE_DISTANCE))
    uncovered = filled[CENTRE[1], CENTRE[0] + side * (RADII[0] - depths)]
    assert abs(uncovered.astype(int) - colour).max() <= 3


def test_what_runs_up_to_the_person_is_mirrored_and_softens(hidden):
    y = np.arange(240)[:, None]
    stripes = np.broadcast_to(
        np.where(y % 24 < 12, 220, 40).astype(np.uint8)[..., None], (240, 320, 3)
    ).copy()
    filled = fill_behind(stripes, hidden, EYE_DISTANCE)
    contrasts = [float(filled[100:140, CENTRE[0] - RADII[0] + depth].std()) for depth in (1, 8, 20, 50)]
    assert contrasts == sorted(contrasts, reverse=True)
    assert contrasts[0] > 70 > 20 > contrasts[-1]
