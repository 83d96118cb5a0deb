import math
from dataclasses import replace

import pytest

from avatar_cli.evaluation.quality.reference_video import (
    Comparison,
    Manner,
    comparison_table,
    distances,
)

REAL = Manner(yaw=3.0, pitch=2.0, roll=1.0, blinks=20.0, mouth=0.12, width=0.06)


def test_an_equal_manner_is_at_no_distance_and_double_as_far_as_half():
    assert distances(REAL, REAL) == (0, 0, 0, 0, 0, 0)
    double, half = replace(REAL, yaw=6.0), replace(REAL, yaw=1.5)
    assert distances(double, REAL)[0] == pytest.approx(math.log(2))
    assert distances(half, REAL)[0] == pytest.approx(math.log(2))


def test_people_who_do_not_blink_can_be_compared():
    assert distances(replace(REAL, blinks=1.0), replace(REAL, blinks=0.0))[3] == pytest.approx(math.log(2))


def test_the_table_tells_which_render_is_nearer():
    person = Comparison("me", REAL, replace(REAL, yaw=6.0), REAL, 0.91, 0.93)
    lines = comparison_table([person]).splitlines()
    assert [line.split(" | ")[1] for line in lines[2:]] == ["real", "photo", "video", "photo", "video"]
    assert "0.69" in lines[5]
    assert lines[5].rstrip(" |").endswith(f"all: {math.log(2) / 6:.2f}")
    assert lines[6].rstrip(" |").endswith("all: 0.00")
    assert "0.910" in lines[3]
    assert "0.930" in lines[4]
