from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from avatar_cli.protocol.timing import frame_edge, frames_for, parse_fps

NTSC = Fraction(30000, 1001)
RATES = st.sampled_from([8000, 11025, 16000, 22050, 37800, 44100, 48000, 96000])
FPS = st.sampled_from([Fraction(24), Fraction(25), Fraction(30), NTSC, Fraction(24000, 1001), Fraction(60)])


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


@pytest.mark.parametrize("text", ["0", "-25", "fast", "", "nan"])
def test_what_is_no_frame_rate_is_refused(text):
    with pytest.raises(ValueError):
        parse_fps(text)
