import math
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from avatar_cli.stages.values import PromptTrack


def track(*starts):
    """Prompt j has two tokens of three numbers, all j."""
    return PromptTrack(
        tuple(map(Fraction, starts)), tuple(torch.full((1, 2, 3), j) for j in range(len(starts)))
    )


@pytest.mark.parametrize(
    ("seconds", "prompt"), [("-1", 0), ("0", 0), ("0.99", 0), ("1", 1), ("2.4", 1), ("2.5", 2), ("999", 2)]
)
def test_a_prompt_holds_until_the_next_one_starts(seconds, prompt):
    assert track("0", "1", "2.5").at(Fraction(seconds)).unique().tolist() == [prompt]


def test_frames_have_the_prompt_that_holds_when_they_begin():
    tokens = track("0", "1.01", "1.04").of_frames([-1, 24, 25, 26, 80], Fraction(25))
    assert tokens.shape == (1, 5, 2, 3)
    assert tokens[0, :, 0, 0].tolist() == [0, 0, 0, 2, 2]


@given(
    st.fractions(Fraction(1, 1000), 100, max_denominator=1000),
    st.sampled_from([Fraction(25), Fraction(30000, 1001)]),
)
def test_a_cue_begins_with_the_first_frame_that_begins_no_earlier(seconds, fps):
    first = math.ceil(seconds * fps)
    assert (first - 1) / fps < seconds <= first / fps
    prompts = track("0", seconds).of_frames([first - 1, first], fps)
    assert prompts[0, :, 0, 0].tolist() == [0, 1]
