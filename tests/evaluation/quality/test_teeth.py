from dataclasses import replace

import numpy as np
import pytest

from avatar_cli.evaluation.quality.teeth import (
    Mouth,
    TeethWatcher,
    mouth_of,
    structural_similarity,
    teeth_figures,
    teeth_similarity,
)
from avatar_cli.families.portrait.tracker import FaceTracker


@pytest.fixture
def open_mouth():
    rows, columns = np.mgrid[:64, :96]
    inside = ((columns - 48) / 30) ** 2 + ((rows - 32) / 12) ** 2 < 1
    luma = np.where((columns // 8) % 2, 200, 60).astype(np.uint8)
    return Mouth(0, 0.2, 0.45, luma, inside)


def test_the_same_teeth_are_the_same(open_mouth):
    assert teeth_similarity([open_mouth], [replace(open_mouth, frame=100)]) == pytest.approx(1)


def test_other_teeth_are_less_alike(open_mouth):
    noise = np.random.default_rng(0).integers(0, 255, (64, 96)).astype(np.uint8)

    assert teeth_similarity([open_mouth], [replace(open_mouth, frame=100, luma=noise)]) < 0.4


def test_a_head_that_has_turned_a_little_has_the_same_teeth(open_mouth):
    moved = replace(open_mouth, frame=100, luma=np.roll(open_mouth.luma, 2, axis=1))

    assert teeth_similarity([open_mouth], [moved]) > 0.99


def test_only_what_both_mouths_show_is_compared(open_mouth):
    noise = np.random.default_rng(0).integers(0, 255, (64, 96)).astype(np.uint8)
    luma = np.where(open_mouth.inside, open_mouth.luma, noise)
    wider = replace(open_mouth, frame=100, luma=luma, inside=np.ones((64, 96), bool))

    assert teeth_similarity([open_mouth], [wider]) > 0.6


def test_mouths_that_are_not_equally_open_are_not_compared(open_mouth):
    assert teeth_similarity([open_mouth], [replace(open_mouth, frame=100, opening=0.25)]) is None


def test_a_stretch_is_compared_with_itself_only_across_time(open_mouth):
    near, far = replace(open_mouth, frame=10), replace(open_mouth, frame=90)

    assert teeth_figures(([open_mouth, near], []))[1] is None
    assert teeth_figures(([open_mouth, far], []))[1] == pytest.approx(1)


def test_similarity_is_that_of_the_formula_for_flat_pictures():
    dark, bright = np.full((64, 96), 50.0), np.full((64, 96), 100.0)

    expected = (2 * 50 * 100 + 6.5025) / (50**2 + 100**2 + 6.5025)
    assert structural_similarity(dark, bright)[32, 48] == pytest.approx(expected, rel=1e-4)


def test_an_open_mouth_is_cut_out_upright(photo):
    landmarks = FaceTracker().track(photo).landmarks

    mouth = mouth_of(0, photo, landmarks)

    assert 0.05 < mouth.opening < 0.4
    assert mouth.inside[32, 48]
    assert not mouth.inside[[0, 63]].any()
    assert mouth.luma[mouth.inside].mean() > mouth.luma[~mouth.inside].mean()  # she shows her teeth


def test_only_the_ends_of_a_video_are_kept(photo):
    landmarks = FaceTracker().track(photo).landmarks
    watcher = TeethWatcher()
    for index in range(0, 30, 1):
        watcher.see(index, photo, landmarks)

    first, last = watcher.minutes()

    assert [mouth.frame for mouth in first] == [0, 5]
    assert [mouth.frame for mouth in last] == [20, 25]
