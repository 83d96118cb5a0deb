import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from avatar_cli.protocol.timing import frame_edge, frames_for, parse_fps

NTSC = Fraction(30000, 1001)
RATES = st.sampled_from([8000, 11025, 16000, 22050, 37800, 44100, 48000, 96000])
USUAL_FPS = [*map(Fraction, (24, 25, 30, 50, 60)), NTSC, Fraction(24000, 1001)]
FPS = st.sampled_from(USUAL_FPS) | st.fractions(min_value=1, max_value=240, max_denominator=1001)


def test_frame_edges_are_exact_far_from_zero():
    assert frame_edge(0, 44100, NTSC) == 0
    assert frame_edge(1, 44100, NTSC) == 1471  # 1471.47
    assert frame_edge(30000, 44100, NTSC) == 44100 * 1001
    assert frame_edge(3, 22050, Fraction(24)) == 2756  # 2756.25


def test_a_frame_edge_between_two_samples_is_rounded_up():
    assert frame_edge(1, 11025, Fraction(50)) == 221  # 220.5


def test_frame_counts_keep_every_sample_and_add_no_empty_frame():
    assert frames_for(0, 22050, Fraction(25)) == 0
    assert frames_for(1, 22050, Fraction(25)) == 1
    assert frames_for(882, 22050, Fraction(25)) == 1
    assert frames_for(883, 22050, Fraction(25)) == 2


@given(samples=st.integers(0, 10**9), rate=RATES, fps=FPS)
def test_frames_cover_the_sound_and_the_last_one_begins_within_it(samples, rate, fps):
    frames = frames_for(samples, rate, fps)
    assert Fraction(frames) / fps >= Fraction(samples, rate)
    assert frames == 0 or Fraction(frames - 1) / fps < Fraction(samples, rate)
    assert frame_edge(frames, rate, fps) >= samples


@given(frame=st.integers(0, 10**7), rate=RATES, fps=FPS)
def test_frame_edges_lie_within_half_a_sample_of_the_true_time(frame, rate, fps):
    assert abs(frame_edge(frame, rate, fps) - Fraction(frame * rate) / fps) <= Fraction(1, 2)


@given(start=st.integers(0, 10**6), count=st.integers(1, 50), rate=RATES, fps=FPS)
def test_the_samples_of_frames_add_up_without_gap_or_drift(start, count, rate, fps):
    edges = [frame_edge(frame, rate, fps) for frame in range(start, start + count + 1)]
    lengths = [stop - begin for begin, stop in pairwise(edges)]
    assert sum(lengths) == edges[-1] - edges[0]
    assert min(lengths) >= 0
    assert max(lengths) - min(lengths) <= 1


@given(frames=st.integers(1, 10**6), rate=RATES, fps=FPS)
def test_exactly_so_many_frames_of_sound_make_so_many_frames_and_one_sample_more_makes_one_more(
    frames, rate, fps
):
    samples = frames * rate / fps
    assert frames_for(math.floor(samples), rate, fps) == frames
    assert frames_for(math.floor(samples) + 1, rate, fps) == frames + 1
    if samples.denominator == 1:
        assert frames_for(int(samples) - 1, rate, fps) == frames


@given(samples=st.integers(0, 10**9), more=st.integers(0, 10**5), rate=RATES, fps=FPS)
def test_more_sound_never_makes_fewer_frames(samples, more, rate, fps):
    assert frames_for(samples, rate, fps) <= frames_for(samples + more, rate, fps)


@given(fps=st.fractions(min_value=Fraction(1, 10**6), max_value=1000, max_denominator=10**6))
def test_any_positive_ratio_is_a_frame_rate_near_what_was_written(fps):
    read = parse_fps(str(fps))
    assert read > 0
    assert abs(read - fps) <= Fraction(1, 200)


@given(fps=st.integers(10, 240))
def test_whole_rates_stay_and_decimals_of_ntsc_rates_become_exact(fps):
    ntsc = Fraction(fps * 1000, 1001)
    assert parse_fps(str(fps)) == fps
    assert parse_fps(str(ntsc)) == ntsc
    for digits in (2, 3, 4):
        assert parse_fps(f"{float(ntsc):.{digits}f}") == ntsc


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("25", Fraction(25)),
        ("12.5", Fraction(25, 2)),
        ("30000/1001", NTSC),
        ("29.97", NTSC),
        ("23.976", Fraction(24000, 1001)),
        ("59.94", Fraction(60000, 1001)),
    ],
)
def test_frame_rates_as_ffmpeg_users_write_them(text, expected):
    assert parse_fps(text) == expected


@pytest.mark.parametrize("text", ["0", "-25", "fast", "", "nan", "25/0"])
def test_what_is_no_frame_rate_is_refused(text):
    with pytest.raises(ValueError):
        parse_fps(text)
