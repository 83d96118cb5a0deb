import cv2
import numpy as np
import pytest

from avatar_cli.families.portrait.decoder.lips import LipSeal, closing_share, snap_to_seam
from avatar_cli.families.portrait.landmarks import INNER_LOWER_LIP, INNER_UPPER_LIP

UPPER, LOWER = list(INNER_UPPER_LIP), list(INNER_LOWER_LIP)
EYE_DISTANCE = 200.0


def flat_mesh(gap=0.0):
    """A mouth of 0.5 e with its inner lips `gap` apart; every other point far above it."""
    mesh = np.zeros((478, 3))
    mesh[:, 1] = -5.0
    x = np.linspace(-0.25, 0.25, 11)
    bow = gap / 2 * np.sin(np.pi * np.arange(11) / 10)
    mesh[UPPER] = np.stack([x, 1.0 - bow, np.zeros(11)], axis=1)
    mesh[LOWER] = np.stack([x, 1.0 + bow, np.zeros(11)], axis=1)
    return mesh


@pytest.mark.parametrize("offset", [-6, 4, 8])
def test_inner_lips_move_onto_the_dark_seam(offset):
    points = np.full((478, 2), 10.0)
    x = np.linspace(150, 250, 11)
    for ring in (UPPER, LOWER):
        points[ring] = np.stack([x, np.full(11, 100.0)], axis=1)
    image = np.full((200, 400, 3), (190, 120, 110), np.uint8)
    cv2.line(image, (140, 100 + offset), (260, 100 + offset), (60, 20, 20), 3)
    snapped = snap_to_seam(image, points, EYE_DISTANCE)
    assert np.array_equal(snapped[UPPER], snapped[LOWER])
    assert snapped[UPPER[3:8], 1] == pytest.approx(100 + offset, abs=1.2)
    assert snapped[UPPER[0]] == pytest.approx([150, 100])


def test_full_closing_brings_the_lips_together():
    mesh = flat_mesh(gap=0.12)
    LipSeal(flat_mesh(), 0.5).apply(mesh, 1.0)
    assert mesh[LOWER, 1] == pytest.approx(mesh[UPPER, 1], abs=1e-9)


def test_half_closing_leaves_half_the_gap():
    mesh = flat_mesh(gap=0.12)
    LipSeal(flat_mesh(), 0.5).apply(mesh, 0.5)
    assert mesh[14, 1] - mesh[13, 1] == pytest.approx(0.06)


def test_lips_that_cross_are_separated_even_without_closing():
    mesh = flat_mesh(gap=-0.08)
    LipSeal(flat_mesh(), 0.5).apply(mesh, 0.0)
    assert mesh[LOWER, 1] == pytest.approx(mesh[UPPER, 1], abs=1e-9)


def test_lips_that_cross_in_the_photo_rest_there():
    photo = flat_mesh(gap=-0.02)
    mesh = photo.copy()
    LipSeal(photo, 0.5).apply(mesh, 0.0)
    assert np.array_equal(mesh, photo)


def test_closing_starts_near_a_closed_gap_and_never_closes_the_photo():
    assert closing_share(0.0, 0.15) == 1.0
    assert closing_share(0.01, 0.15) == pytest.approx(1.0)
    assert 0.0 < closing_share(0.02, 0.15) < 1.0
    for photo_gap in (0.002, 0.012, 0.05, 0.2):
        assert closing_share(photo_gap, photo_gap) == 0.0
