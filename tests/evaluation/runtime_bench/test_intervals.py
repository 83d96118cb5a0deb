"""What lay under what: stretches of time against stretches of time."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from avatar_cli.evaluation.runtime_bench.intervals import gaps, merged, middle, share_under, total

stretches = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 10)).map(lambda pair: (pair[0], pair[0] + pair[1])),
    max_size=8,
)


def ticks(some):
    return {tick for begin, end in some for tick in range(begin, end)}


@given(stretches)
def test_merging_keeps_the_time_and_leaves_no_overlap(some):
    whole = merged(some)
    assert ticks(whole) == ticks(some)
    assert all(before[1] < after[0] for before, after in pairwise(whole))


@given(stretches, stretches)
def test_the_share_is_that_of_the_time_that_both_have(covered, covering):
    own, other = ticks(covered), ticks(covering)
    share = share_under(covered, covering)
    if own:
        assert share == pytest.approx(len(own & other) / len(own))
    else:
        assert share is None


def test_gaps_are_between_what_does_not_touch():
    assert gaps([(5.0, 6.0), (0.0, 1.0), (1.0, 2.0), (5.5, 7.0)]) == [3.0]
    assert gaps([]) == []


def test_sum_and_median():
    assert total([(0.0, 1.0), (3.0, 5.0)]) == 3.0
    assert middle([3.0, 1.0, 2.0]) == 2.0
    assert middle([]) is None
