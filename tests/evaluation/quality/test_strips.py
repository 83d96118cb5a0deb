import numpy as np
import pytest

from avatar_cli.evaluation.quality.strips import FEWEST, Snapshot, StripWatcher, side_by_side
from avatar_cli.families.portrait.tracker import FaceTracker


def test_pictures_are_spread_evenly_however_long_the_video_is(photo):
    landmarks = FaceTracker().track(photo).landmarks
    watcher = StripWatcher()
    for index in range(500):
        watcher.see(index, photo, landmarks)

    frames = [snapshot.frame for snapshot in watcher.snapshots]

    assert FEWEST <= len(frames) < 2 * FEWEST
    assert frames[0] == 0
    assert len(set(np.diff(frames))) == 1
    assert watcher.snapshots[0].face.shape == (150, 150, 3)


@pytest.mark.parametrize(("lag", "expected"), [(0, [0, 16]), (8, [0, 8])])
def test_each_picture_stands_beside_the_moment_it_belongs_to(lag, expected):
    nothing = np.zeros((2, 2, 3), np.uint8)
    first = [Snapshot(frame, nothing, nothing) for frame in (0, 16)]
    second = [Snapshot(frame, nothing, nothing) for frame in (0, 8, 16, 24)]

    assert [other.frame for _, other in side_by_side(first, second, lag)] == expected


def test_without_a_real_person_pictures_stand_alone():
    nothing = np.zeros((2, 2, 3), np.uint8)

    assert side_by_side([Snapshot(0, nothing, nothing)], [], 0)[0][1] is None
