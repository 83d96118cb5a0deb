import numpy as np
import pytest

from avatar_cli.evaluation.quality.scenes import _whole_motion

TEN_MINUTES = 15_000


def test_ten_minutes_are_looked_at_evenly_though_only_their_ends_are_watched_whole(face_curves):
    frames = np.arange(TEN_MINUTES)
    watched = frames[(frames < 1500) | (frames >= 13_500) | (frames % 5 == 0)]

    motion = _whole_motion(face_curves(len(watched), yaw=np.radians(watched)))

    assert motion[:, 0] == pytest.approx(frames[::5], rel=1e-5)
