"""Identity of frames, told by their hashes: what may not change them, and from where on what follows does."""

from fractions import Fraction

import pytest

from avatar_cli.cli.configuration import configure
from avatar_cli.cli.request import Request
from avatar_cli.families.portrait.family import FACTS

FPS = 25


def settled_frames(seconds: float) -> int:
    """Frames of a recording that do not depend on what follows it.

    Up to (end - n - i - look-ahead): the last N chunk hears the silence behind the end.
    """
    lengths = configure(Request({}))
    chunks = Fraction(lengths["chunks.frames"] + lengths["chunks.interpolated"]) / FACTS.fps
    return int((Fraction(str(seconds)) - chunks - FACTS.look_ahead) * FPS)


def test_the_first_ten_seconds_are_the_same_whatever_follows(render, speech):
    short = render(speech(13.0)).hashes
    assert len(short) == 13 * FPS
    assert settled_frames(13) >= 10 * FPS
    for seconds in (60.0, 600.0):
        # The whole recording is there to be read; the render is stopped behind the frames in question.
        longer = render(speech(seconds), stop_after=12 * FPS).hashes
        assert 12 * FPS <= len(longer) < 20 * FPS
        assert longer[: 10 * FPS] == short[: 10 * FPS]
    assert len(set(short[: 10 * FPS])) > 9.5 * FPS


@pytest.mark.parametrize("seconds", [4.6, 4.99])
def test_what_follows_changes_no_frame_that_is_settled_and_the_last_one(render, speech, seconds):
    """After 4.6 s of speech, the last settled frame is the first one of a transition."""
    short, longer = render(speech(seconds)).hashes, render(speech(6.0)).hashes
    settled = settled_frames(seconds)
    assert settled > 48
    assert short[:settled] == longer[:settled]
    assert short[-1] != longer[len(short) - 1]


def test_one_seed_gives_one_video_and_another_seed_another(render, speech):
    path = speech(3.0)
    first = render(path, "generation.seed=5").hashes
    assert render(path, "generation.seed=5").hashes == first
    assert render(path, "generation.seed=6").hashes != first


@pytest.mark.parametrize("fps", ["25", "30000/1001"])
def test_batch_gives_the_frames_of_streaming(render, speech, fps):
    path = speech(5.1)
    settings = (f"picture.fps={fps}",)
    streamed = render(path, *settings, "generation.mode=streaming").hashes
    assert render(path, *settings, "generation.mode=batch").hashes == streamed
    assert len(set(streamed)) > 100
