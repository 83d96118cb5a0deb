from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from avatar_cli.families.portrait.speaker import find_speaker, seen_pixels
from avatar_cli.media.image_in import Photo
from avatar_cli.protocol.errors import InputError, UsageError

ME = Path("me.png")
CELL = 420


def row_of_heads(picture, sides):
    scene = np.full((CELL, CELL * len(sides), 3), 120, np.uint8)
    for index, side in enumerate(sides):
        head = cv2.resize(picture[20:276, 95:351], (side, side), interpolation=cv2.INTER_AREA)
        scene[:side, CELL * index : CELL * index + side] = head
    return scene


@pytest.fixture(scope="module")
def group(picture):
    return row_of_heads(picture, [200, 400, 300])


def cell_of(speaker):
    return int(speaker.face.landmarks[1, 0] // CELL) + 1


def test_the_largest_speaks_unless_another_is_chosen(tracker, group):
    speaker = find_speaker(ME, group, None, tracker)
    assert (cell_of(speaker), speaker.faces) == (2, 3)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_faces_are_counted_from_the_left(tracker, group, number):
    speaker = find_speaker(ME, group, number, tracker)
    assert (cell_of(speaker), speaker.faces) == (number, 3)


def test_a_number_beyond_the_last_face_is_told_with_the_count(tracker, group):
    with pytest.raises(UsageError, match=r"me\.png shows 3 faces, so there is no --face 4: choose 1 to 3"):
        find_speaker(ME, group, 4, tracker)


def test_a_number_beyond_the_only_face_is_told(tracker, picture):
    with pytest.raises(UsageError, match=r"me\.png shows one face, so there is no --face 2"):
        find_speaker(ME, picture, 2, tracker)


@pytest.mark.parametrize("number", [None, 1])
def test_a_single_face_is_the_first(tracker, picture, number):
    speaker = find_speaker(ME, picture, number, tracker)
    assert speaker.faces == 1
    assert np.array_equal(speaker.face.landmarks, tracker.track(picture).landmarks)


@pytest.mark.parametrize(("share", "counted"), [(0.19, 1), (0.21, 2)])
def test_tiny_faces_in_the_background_do_not_count(tracker, picture, share, counted):
    class Background:
        """A tracker that sees the face once more, small and far to its left."""

        def faces(self, image, *, every=False, search=True):
            seen = tracker.faces(image, every=every, search=search)
            return [*seen, *(replace(face, landmarks=face.landmarks * np.float32(share)) for face in seen)]

    speaker = find_speaker(ME, picture, counted, Background())
    assert speaker.faces == counted
    assert np.array_equal(speaker.face.landmarks, tracker.track(picture).landmarks)


def test_a_face_upside_down_is_refused(tracker, picture):
    with pytest.raises(
        InputError, match=r"The face in me\.png is upside down: turn the picture by 180 degrees"
    ):
        find_speaker(ME, picture[::-1, ::-1], None, tracker)


def test_a_face_upside_down_that_is_not_found_as_it_is_is_told_too(tracker, picture):
    class Strict:
        """A tracker that finds only faces that are the right way up."""

        def faces(self, image, *, every=False, search=True):
            return [] if search else tracker.faces(image, every=every, search=search)

    with pytest.raises(InputError, match="is upside down"):
        find_speaker(ME, picture[::-1, ::-1], None, Strict())


def test_no_face_names_the_file(tracker):
    with pytest.raises(InputError, match=r"No face was found in me\.png"):
        find_speaker(ME, np.zeros((300, 300, 3), np.uint8), None, tracker)


def test_an_opaque_photo_is_seen_as_it_is(picture):
    assert seen_pixels(Photo(ME, picture, None)) is picture


def test_a_cut_out_is_seen_over_gray(picture):
    opacity = np.zeros(picture.shape[:2], np.uint8)
    opacity[:, 100:200] = 255
    opacity[:, 200:300] = 128
    seen = seen_pixels(Photo(ME, picture, opacity)).astype(int)
    assert (seen[:, :100] == 128).all()
    assert np.array_equal(seen[:, 100:200], picture[:, 100:200])
    half = (picture[:, 200:300].astype(int) + 127) / 2
    assert np.abs(seen[:, 200:300] - half).max() <= 2
