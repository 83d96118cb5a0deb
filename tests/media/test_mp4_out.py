import os
import signal
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from avatar_cli.media.decoding import read_frames
from avatar_cli.media.mp4_out import Mp4Writer, SoundFormat, VideoFormat, partial_path
from avatar_cli.media.probe_mp4 import decoding_fault, probe_mp4, read_sound
from avatar_cli.media.speech_source import SpeechSource
from avatar_cli.protocol.job import Encoding

COLOURS = [
    (0, 0, 0),
    (255, 255, 255),
    (128, 128, 128),
    (224, 172, 135),
    (92, 58, 40),
    (255, 0, 0),
    (0, 255, 0),
    (0, 0, 255),
    (20, 90, 160),
]


@pytest.mark.parametrize("colour", COLOURS)
def test_a_pure_colour_comes_back_within_two_levels(start_render, colour):
    render = start_render()
    for index in range(3):
        render.frame(index, np.full((96, 128, 3), colour, np.uint8))
    frames = list(read_frames(render.writer.finish()))
    assert len(frames) == 3
    assert np.abs(np.stack(frames).astype(int) - colour).max() <= 2


def test_colours_are_tagged_as_what_they_are(start_render):
    render = start_render()
    render.frame(0)
    video = probe_mp4(render.writer.finish()).video
    assert (video.codec, video.tag, video.pixels) == ("h264", "avc1", "yuv420p")
    assert video.colour.startswith("tv, bt709")  # one word where matrix, primaries and transfer agree


@pytest.mark.parametrize("fps", [Fraction(24), Fraction(25), Fraction(30000, 1001)])
@pytest.mark.parametrize(
    ("samples", "rate"),
    [(1, 22050), (1764, 44100), (73581, 22050), (79999, 16000), (24001, 8000), (100000, 37800)],
)
def test_pictures_and_sound_are_equally_long(start_render, write_wav, fps, samples, rate):
    source = SpeechSource(write_wav("speech.wav", samples, rate), fps)
    render = start_render(fps=fps, rate=rate)
    frames = 0
    while source.has_frame(frames):
        render.writer.write_sound(source.sound_for_frame(frames))
        render.writer.write_frame(np.zeros((96, 128, 3), np.uint8))
        frames += 1
    source.close()
    facts = probe_mp4(render.writer.finish())
    assert len(facts.video.times) == frames
    assert facts.video.times[0] == facts.sound.start == 0
    assert facts.video.end == pytest.approx(Fraction(frames) / fps, abs=1e-3)
    assert abs(facts.video.end - facts.sound.end) < 1 / fps
    assert facts.sound.end >= Fraction(samples, rate) - Fraction(1, 1000)


def test_sound_stays_in_step_with_the_pictures(start_render):
    render = start_render(rate=48000)
    for index in range(60):
        loud = index in (20, 45)
        beep = np.sin(np.arange(1920) * 2 * np.pi * 1000 / 48000)[:, None].astype(np.float32)
        render.writer.write_sound(0.5 * beep if loud else 0 * beep)
        render.writer.write_frame(np.full((96, 128, 3), 255 if loud else 0, np.uint8))
    output = render.writer.finish()
    flashes = [index for index, frame in enumerate(read_frames(output)) if frame.mean() > 128]
    loudness = np.abs(read_sound(output)[: 60 * 1920, 0]).reshape(-1, 480).mean(axis=1)
    assert flashes == [20, 45]
    assert [int(place) for place in np.flatnonzero(loudness > 0.15)] == [80, 81, 82, 83, 180, 181, 182, 183]


@pytest.mark.parametrize(
    ("rate", "channels", "rate_out", "channels_out"),
    [
        (8000, 1, 8000, 1),
        (22050, 2, 22050, 2),
        (44100, 2, 44100, 2),
        (96000, 1, 96000, 1),
        (37800, 1, 48000, 1),
        (192000, 2, 48000, 2),
        (48000, 3, 48000, 3),
        (48000, 6, 48000, 6),
        (48000, 8, 48000, 6),
        (48000, 12, 48000, 1),
    ],
)
def test_sound_keeps_its_rate_and_channels_where_aac_has_them(
    start_render, rate, channels, rate_out, channels_out
):
    render = start_render(rate=rate, channels=channels)
    for index in range(12):
        render.frame(index)
    output = render.writer.finish()
    sound = probe_mp4(output).sound
    assert (sound.codec, sound.tag) == ("aac", "mp4a")
    assert (sound.rate, sound.channels) == (rate_out, channels_out)
    assert read_sound(output)[rate_out // 10 :, 0].std() > 0.1  # the tone has 0.21


def test_keyframes_lie_on_the_grid_whatever_the_scene(start_render):
    render = start_render(preset="veryfast")  # the fastest preset has no scene cuts to begin with
    noise = np.random.default_rng(0)
    for index in range(120):
        render.frame(index, noise.integers(0, 255, (96, 128, 3), np.uint8) if index % 7 == 0 else None)
    assert probe_mp4(render.writer.finish()).video.keyframes == (0, 50, 100)


def test_every_frame_is_shown_at_its_time(start_render):
    render = start_render(fps=Fraction(30000, 1001))
    for index in range(70):
        render.frame(index)
    times = probe_mp4(render.writer.finish()).video.times
    assert times == tuple(Fraction(index * 1001, 30000) for index in range(70))


def test_the_output_appears_at_once_and_whole(start_render, tmp_path):
    output = tmp_path / "out.mp4"
    output.write_bytes(b"what was there before")
    render = start_render(output)
    index = 0
    while not render.first_bytes:
        render.frame(index)
        index += 1
        assert index < 1000
    assert output.read_bytes() == b"what was there before"
    assert partial_path(output).exists()
    assert render.writer.finish() == output
    assert not partial_path(output).exists()
    assert decoding_fault(output) is None
    top_boxes = boxes(output)
    assert "moof" not in top_boxes
    assert top_boxes.count("moov") == 1


def boxes(path) -> list[str]:
    data = path.read_bytes()
    names, start = [], 0
    while start < len(data):
        size = int.from_bytes(data[start : start + 4], "big")
        size = int.from_bytes(data[start + 8 : start + 16], "big") if size == 1 else size
        names.append(data[start + 4 : start + 8].decode())
        start += size
    return names


def test_first_bytes_are_told_once_while_the_file_still_grows(start_render):
    render = start_render()
    index = 0
    while not render.first_bytes:
        render.frame(index)
        index += 1
        assert index < 1000
    facts = probe_mp4(partial_path(render.writer._output))
    assert facts.video.times[0] == 0
    for more in range(index, index + 30):
        render.frame(more)
    render.writer.finish()
    assert render.first_bytes == 1


def test_first_bytes_of_a_very_short_video_are_told_at_its_end(start_render):
    render = start_render()
    render.frame(0)
    render.writer.finish()
    assert render.first_bytes == 1


def test_a_leftover_partial_file_is_not_taken_for_first_bytes(start_render, tmp_path):
    first = start_render(tmp_path / "old.mp4")
    index = 0
    while not first.first_bytes:
        first.frame(index)
        index += 1
    os.kill(first.writer.pid, signal.SIGKILL)
    first.writer.abandon().rename(tmp_path / "out.partial.mp4")
    second = start_render(tmp_path / "out.mp4")
    time.sleep(0.1)  # no frame yet, so ffmpeg has not opened the file
    assert second.first_bytes == 0
    second.frame(0)
    second.writer.finish()
    assert second.first_bytes == 1


@pytest.mark.parametrize(
    "name", ["a b.mp4", "-y.mp4", "50%d.mp4", "crypto:x.mp4", "ä'\".mp4", "two\nlines.mp4"]
)
def test_any_file_name_works(start_render, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    render = start_render(Path(name))
    render.frame(0)
    render.writer.finish()
    assert (tmp_path / name).stat().st_size > 500


def test_frames_that_are_views_arrive_as_they_are_seen(tmp_path):
    writer = Mp4Writer(
        tmp_path / "out.mp4",
        VideoFormat(128, 96, Fraction(25)),
        SoundFormat(16000, 1),
        Encoding("ultrafast", 12, 64),
    )
    wide = np.zeros((96, 256, 3), np.uint8)
    wide[:, ::2] = 200
    writer.write_sound(np.zeros((640, 1), np.float32))
    writer.write_frame(wide[:, ::2])
    [frame] = read_frames(writer.finish())
    assert np.abs(frame.astype(int) - 200).max() <= 2
