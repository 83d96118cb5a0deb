import os
import signal
import threading
import time

import pytest

from avatar_cli.media.decoding import read_frames
from avatar_cli.media.encoder_gate import EncoderGate


@pytest.fixture
def pipe():
    read, write = os.pipe()
    yield read, write
    os.close(write)


def passes(gate, frames, seconds=0.3):
    """How many of `frames` are let through within the time."""
    through = []
    thread = threading.Thread(
        target=lambda: [through.append(gate.enter()) for _ in range(frames)], daemon=True
    )
    thread.start()
    thread.join(seconds)
    return len(through)


def test_no_more_frames_are_on_their_way_than_allowed(pipe):
    read, _ = pipe
    gate = EncoderGate(read, 3)
    assert passes(gate, 5) == 3


def test_a_frame_that_has_reached_the_encoder_makes_room_for_another(pipe):
    read, write = pipe
    gate = EncoderGate(read, 3)
    assert passes(gate, 3) == 3
    os.write(write, b"0\n1\n")
    assert passes(gate, 3) == 2


def test_an_encoder_that_takes_nothing_gets_a_frame_a_second_to_notice_that_it_was_told_to_end(pipe):
    read, _ = pipe
    gate = EncoderGate(read, 1)
    gate.enter()
    started = time.monotonic()
    gate.enter()
    assert 0.5 < time.monotonic() - started < 5


def test_nothing_is_held_back_once_it_is_open_or_the_encoder_has_ended(pipe):
    read, _ = pipe
    opened = EncoderGate(read, 1)
    opened.open()
    assert passes(opened, 50) == 50
    other_read, other_write = os.pipe()
    ended = EncoderGate(other_read, 1)
    os.close(other_write)
    ended.join()
    assert passes(ended, 50) == 50


def test_an_ffmpeg_that_takes_nothing_is_given_three_frames(start_render):
    render = start_render()
    os.kill(render.writer.pid, signal.SIGSTOP)
    given = []
    feed = threading.Thread(
        target=lambda: given.extend(render.frame(index) for index in range(30)), daemon=True
    )
    feed.start()
    feed.join(0.5)
    waiting = len(given)
    os.kill(render.writer.pid, signal.SIGCONT)
    feed.join()
    assert waiting == 3
    assert sum(1 for _ in read_frames(render.writer.finish())) == 30
