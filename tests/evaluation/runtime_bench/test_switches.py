"""A switch is told by the calls before and after it, and is what it takes more than when all is resident."""

import pytest

from avatar_cli.evaluation.runtime_bench.clock import HostClock
from avatar_cli.evaluation.runtime_bench.switches import chunk_times, compared, switch_times
from avatar_cli.evaluation.runtime_bench.watched import Call

CLOCK = HostClock()


def calls(gap):
    """Three chunks: twice `base` for 1 s, once `sr` for 2 s, and `gap` before each first call."""
    made, now = [], 0.0
    for _ in range(3):
        for name, seconds, pause in (("base", 1, gap), ("base", 1, 0), ("sr", 2, gap)):
            made.append(Call(name, now + pause, now + pause + seconds))
            now += pause + seconds
    return made


def test_a_switch_lasts_until_the_next_network_has_answered_once():
    times = switch_times(calls(gap=0.25), CLOCK)
    assert times == {
        ("base", "sr"): pytest.approx([2.25] * 2),  # the first of each kind is left out
        ("sr", "base"): pytest.approx([1.25]),
    }


def test_what_is_visible_is_what_is_more_than_resident():
    found = compared(switch_times(calls(0.25), CLOCK), switch_times(calls(0.05), CLOCK))
    assert [(switch.outgoing, switch.incoming, switch.count) for switch in found] == [
        ("base", "sr", 2),
        ("sr", "base", 1),
    ]
    assert [switch.visible_seconds for switch in found] == pytest.approx([0.2, 0.2])


def test_a_pair_that_only_one_run_has_is_not_compared():
    assert compared({("base", "sr"): [1.0]}, {}) == ()


def test_a_chunk_lasts_from_one_end_of_its_last_network_to_the_next():
    assert chunk_times(calls(0.5), "sr", CLOCK) == pytest.approx([5.0])
