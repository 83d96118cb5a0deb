from pathlib import Path

import cv2
import numpy as np
import pytest

from avatar_cli.evaluation.quality.judged_face import JudgedFace
from avatar_cli.evaluation.strip import crop_around
from avatar_cli.families.portrait.tracker import FaceTracker
from avatar_cli.protocol.errors import UsageError

VIDEO = Path("pair.mp4")


@pytest.fixture(scope="module")
def beside(photo):
    """Two faces of these sizes in one picture; without one where the size is 0."""
    landmarks = FaceTracker().track(photo).landmarks[:, :2]
    head = crop_around(photo, landmarks, 1.5)

    def make(left, right):
        picture = np.full((256, 512, 3), 128, np.uint8)
        for start, side in ((0, left), (256, right)):
            if side:
                picture[:side, start : start + side] = cv2.resize(head, (side, side))
        return picture

    return make


def middles(judged, pictures):
    return [judged.find(picture).landmarks[:, 0].mean() for picture in pictures]


def test_the_largest_is_followed_also_when_another_grows(beside):
    judged = JudgedFace(VIDEO)

    found = middles(judged, [beside(256, 200), beside(200, 256)])

    assert max(found) < 256
    assert judged.most == 2


def test_a_chosen_face_is_followed_though_it_is_small(beside):
    found = middles(JudgedFace(VIDEO, 2), [beside(256, 160), beside(256, 150)])

    assert min(found) > 256


def test_a_chosen_face_that_leaves_is_not_taken_for_the_other(beside):
    judged = JudgedFace(VIDEO, 2)
    judged.find(beside(256, 200))

    assert judged.find(beside(256, 0)) is None
    assert judged.find(beside(256, 200)).landmarks[:, 0].mean() > 256


def test_after_a_cut_the_largest_is_followed(beside):
    judged = JudgedFace(VIDEO)
    judged.find(beside(256, 200))

    assert judged.find(beside(0, 200)).landmarks[:, 0].mean() > 256


def test_more_faces_than_there_are_is_a_wrong_command_line(beside):
    with pytest.raises(UsageError, match="shows 2 faces, so there is no --face 3"):
        JudgedFace(VIDEO, 3).find(beside(256, 200))
