"""Sizes of the video: whatever is asked for, what comes back can be encoded and has the shape meant."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from avatar_cli.media.sizes import LARGEST_SIDE, SMALLEST_SIDE, resolve_size, round_to_even
from avatar_cli.protocol.errors import UsageError

HEIGHTS = {"360p": 360, "540p": 540, "720p": 720, "1080p": 1080}
sides = st.integers(1, 20_000)
references = st.tuples(sides, sides)
words = st.one_of(
    st.sampled_from([*HEIGHTS, "source", "720", "p", "x", "640x", "4k", ""]),
    st.builds("{}x{}".format, sides, sides),
    st.text(max_size=12),
)


def allowed(size):
    return all(SMALLEST_SIDE <= side <= LARGEST_SIDE and side % 2 == 0 for side in size)


@given(words, references)
def test_a_size_can_be_encoded_or_is_refused_in_one_sentence(text, reference):
    try:
        size = resolve_size(text, reference)
    except UsageError as error:
        assert error.message.endswith(".")
        assert "\n" not in error.message or "\n" in text
    else:
        assert allowed(size)


@given(st.sampled_from(sorted(HEIGHTS)), references)
def test_named_sizes_are_16_to_9_and_stand_up_with_the_reference(text, reference):
    width, height = resolve_size(text, reference)
    assert min(width, height) == HEIGHTS[text]
    assert max(width, height) * 9 == min(width, height) * 16
    assert (height > width) == (reference[1] > reference[0])


@given(sides, sides, references)
def test_an_explicit_size_is_taken_as_it_is_or_not_at_all(width, height, reference):
    with pytest.raises(UsageError) if not allowed((width, height)) else contextlib.nullcontext():
        assert resolve_size(f"{width}x{height}", reference) == (width, height)


@given(references)
def test_the_size_of_the_reference_loses_one_pixel_at_most(reference):
    with pytest.raises(UsageError) if not allowed(round_to_even(*reference)) else contextlib.nullcontext():
        size = resolve_size("source", reference)
        assert all(0 <= side - new <= 1 for side, new in zip(reference, size, strict=True))
