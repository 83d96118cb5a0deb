import numpy as np
import pytest

from avatar_cli.evaluation.quality.colour import ColourWatcher, colour_change
from avatar_cli.families.portrait.tracker import FaceTracker


def test_the_same_colour_has_not_changed():
    assert colour_change(np.full((300, 3), 128, np.float32)) == 0


def test_a_brighter_grey_differs_by_its_lightness():
    colours = np.full((300, 3), 119, np.float32)  # L* 50
    colours[200:] = 145  # L* 60

    assert colour_change(colours) == pytest.approx(10, abs=0.3)


def test_red_and_green_differ_as_the_standard_says():
    colours = np.zeros((300, 3), np.float32)
    colours[:150, 0] = colours[150:, 1] = 255  # L*a*b* 53.2 80.1 67.2 and 87.7 -86.2 83.2

    assert colour_change(colours) == pytest.approx(170.6, abs=0.5)


def test_skin_and_background_are_told_apart(photo):
    face = FaceTracker().track(photo)
    watcher = ColourWatcher()
    painted = photo.copy()
    painted[:, :60] = painted[:, -60:] = (0, 200, 0)
    watcher.see(0, painted, face.landmarks)
    watcher.see(1, painted, face.landmarks)

    red, green, _ = watcher.skin[1]
    assert red > green
    assert watcher.skin.shape == (2, 3)
    assert watcher.background[0][1] > watcher.background[0][0] + 40


def test_a_face_that_fills_the_picture_leaves_no_background(photo):
    landmarks = FaceTracker().track(photo).landmarks
    low, high = landmarks[:, :2].min(axis=0).astype(int), landmarks[:, :2].max(axis=0).astype(int)
    watcher = ColourWatcher()
    shift = np.array([low[0], low[1], 0], np.float32)

    watcher.see(0, photo[low[1] : high[1], low[0] : high[0]], landmarks - shift)

    assert watcher.background is None
