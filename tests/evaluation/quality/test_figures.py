import pytest

from avatar_cli.evaluation.quality.catalogue import BY_KEY, DEFINITIONS
from avatar_cli.evaluation.quality.figures import Definition, Range, Verdict


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        (1.0, Verdict.GOAL),
        (0.846, Verdict.GOAL),
        (0.75, Verdict.MET),
        (0.69, Verdict.MISSED),
        (None, Verdict.NONE),
    ],
)
def test_a_value_is_judged_as_it_is_shown(value, verdict):
    definition = Definition("range", "range", "", 2, Range(0.7, 1.4), Range(0.85, 1.15))

    assert definition.verdict(value) is verdict


def test_where_nothing_is_asked_nothing_is_judged():
    assert Definition("x", "x").verdict(3.0) is Verdict.NONE


def test_where_only_a_goal_is_named_less_is_short_of_it():
    assert Definition("x", "x", goal=Range(high=3)).verdict(5.0) is Verdict.SHORT


def test_bounds_read_as_they_were_written():
    percent = Definition("x", "x", " %", 0, Range(high=10), Range(0.7, 1.4))

    assert percent.shown_range(percent.at_least) == "<= 10 %"
    assert percent.shown_range(percent.goal) == "0.7 to 1.4 %"
    assert percent.shown_range(None) == ""
    assert percent.told_range(Range(high=15)) == "at most 15 %"
    assert percent.told_range(Range(low=0.4)) == "at least 0.4 %"
    assert percent.told_range(percent.goal) == "0.7 to 1.4 %"
    assert percent.shown(4.6) == "5 %"
    assert percent.shown(None) == "-"


def test_no_goal_is_looser_than_what_is_asked():
    for definition in DEFINITIONS:
        if definition.at_least and definition.goal:
            assert definition.at_least.low <= definition.goal.low
            assert definition.goal.high <= definition.at_least.high


def test_keys_are_unique():
    assert len(BY_KEY) == len(DEFINITIONS)
