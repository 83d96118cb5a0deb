import io

import pytest

from avatar_cli.launch.display import PlainLines, ProgressBar
from avatar_cli.launch.pace import WINDOW, Pace
from avatar_cli.protocol.events import Instant, Progress, ReferenceWatched, Warned, now


def test_pace_is_that_of_the_last_seconds():
    pace = Pace()
    for second in range(21):
        frames = 100 * second if second < 10 else 1000 + 20 * (second - 10)
        pace.add(Progress(frames, 2000, float(second), "decode"))
    assert pace.fps == 20
    assert pace.remaining == (2000 - pace.frames) / 20


def test_pace_is_unknown_before_two_events_and_rest_before_the_length():
    pace = Pace()
    assert pace.fps is None
    pace.add(Progress(1, None, 0.0, "decode"))
    assert pace.fps is None
    pace.add(Progress(11, None, WINDOW / 2, "decode"))
    assert pace.fps is not None
    assert pace.remaining is None


def test_the_end_of_the_frames_does_not_end_the_pace():
    stream = io.StringIO()
    display = PlainLines(started=now() - 100, stream=stream)
    for frames, time, stage in (
        (50, 0.0, "decode"),
        (100, 2.0, "decode"),
        (100, 7.0, "finish"),
        (100, 9.0, "finish"),
    ):
        display.event(Progress(frames, 100, time, stage))
    display.tick()
    assert stream.getvalue() == "avatar: frame 100/100, 25.0 frames/s, 0:00 left, finish\n"


def test_plain_lines_tell_frames_speed_rest_and_stage():
    stream = io.StringIO()
    display = PlainLines(started=now() - 100, stream=stream)
    display.event(Progress(0, 500, 0.0, "a2v"))
    display.event(Progress(50, 500, 1.0, "decode"))
    display.tick()
    assert stream.getvalue() == "avatar: frame 50/500, 50.0 frames/s, 0:09 left, decode\n"
    display.tick()
    assert stream.getvalue().count("\n") == 1


def test_a_plain_line_that_tells_nothing_new_is_left_out(monkeypatch):
    monkeypatch.setattr("avatar_cli.launch.display.PLAIN_PERIOD", 0.0)
    stream = io.StringIO()
    display = PlainLines(started=now(), stream=stream)
    for frames in (None, None, 0, 0, 3, 3):
        if frames is not None:
            display.event(Progress(frames, None, 0.0, "a2v"))
        display.tick()
    assert stream.getvalue().splitlines() == [
        "avatar: frame 0/?, starting",
        "avatar: frame 0/?, a2v",
        "avatar: frame 3/?, a2v",
    ]


@pytest.mark.parametrize("kind", [PlainLines, ProgressBar])
def test_what_would_break_the_line_is_escaped(kind):
    stream = io.StringIO()
    shown = kind(started=now(), stream=stream)
    shown.event(Warned("The photo me\n\x1b[31m.png is small."))
    shown.close()
    assert r"avatar: warning: The photo me\n\x1b[31m.png is small." in stream.getvalue()


def test_a_warning_is_shown_once():
    stream = io.StringIO()
    display = PlainLines(started=now(), stream=stream)
    for _ in range(2):
        display.event(Warned("The photo is [small]."))
    assert stream.getvalue() == "avatar: warning: The photo is [small].\n"


def test_what_a_reference_video_showed_is_one_line():
    stream = io.StringIO()
    display = PlainLines(started=now(), stream=stream)
    watched = ReferenceWatched(200, 187, 0, 3.2, open_mouth=True, closed_eyes=False, voice=True, habits={})
    display.event(watched)
    assert stream.getvalue() == (
        "avatar: reference: 187 of 200 frames used, rendering from 3.20 s; "
        "an open mouth and no closed lids seen\n"
    )


def test_the_bar_shows_frames_speed_and_the_first_frame():
    stream = io.StringIO()
    stream.isatty = lambda: True
    display = ProgressBar(started=0.0, stream=stream)
    display.event(Instant("first_bytes", 2.5, 0))
    display.event(Progress(0, 500, 0.0, "decode"))
    display.event(Progress(50, 500, 1.0, "decode"))
    display.event(Warned("The photo is [small]."))
    display.tick()
    display.close()
    shown = stream.getvalue()
    assert "The photo is [small]." in shown
    assert "50/500" in shown
