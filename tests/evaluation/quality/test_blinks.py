import numpy as np
import pytest

from avatar_cli.evaluation.quality.blinks import blinks


def lids(frames=750):
    return 0.12 + 0.004 * np.sin(np.arange(frames) / 9)


def test_blinks_are_counted_and_timed():
    curve = lids()
    for start in (100, 300, 301, 302, 303, 600):
        curve[start] = 0.01

    found = blinks(curve)

    assert sorted(found.durations) == pytest.approx([0.04, 0.04, 0.16])
    assert found.per_minute == pytest.approx(6)


def test_squints_and_shut_eyes_are_no_blinks():
    curve = lids()
    curve[100:110] *= 0.7
    curve[300:330] = 0.01

    assert blinks(curve).durations == ()


def test_looking_down_for_a_while_moves_the_usual_opening():
    curve = lids()
    curve[300:600] *= 0.45
    curve[450] = 0.01

    assert blinks(curve).durations == pytest.approx([0.04])


def test_a_second_of_video_is_enough():
    curve = lids(25)
    curve[10] = 0.0

    assert len(blinks(curve).durations) == 1
