import subprocess
from pathlib import Path

import numpy as np
import pytest

from avatar_cli.media.ffmpeg import ffmpeg_path
from avatar_cli.media.reference_in import is_video, load_reference, probe_reference
from avatar_cli.media.video_reference import MOST_FRAMES, RUN_FRAMES, ReferenceVideo
from avatar_cli.protocol.errors import InputError

RED_LEFT = "color=red:s=120x80:d=1:r=25,drawbox=x=60:w=60:h=80:color=blue:t=fill"
BRIGHTER = "nullsrc=s=64x64:r=25:d={},format=gray,geq=lum='20+N/10'"  # with every frame, by a tenth
SOUND = ("-f", "lavfi", "-i", "sine=d=1")


def ffmpeg(*options) -> None:
    subprocess.run([str(ffmpeg_path()), "-v", "error", "-y", *map(str, options)], check=True)


def video(path: Path, source: str, *options) -> Path:
    ffmpeg("-f", "lavfi", "-i", source, *options, path)
    return path


@pytest.mark.parametrize(
    "name", ["a.mp4", "a.mov", "a.mkv", "a.webm", "a.mpg", "a.avi", "a.ts", "a.wmv", "a.m2v"]
)
def test_a_video_is_told_by_content(tmp_path, name):
    hidden = video(tmp_path / name, RED_LEFT).rename(tmp_path / "me.jpg")
    assert is_video(hidden)
    assert probe_reference(hidden) == (120, 80)
    frames = list(load_reference(hidden, (320, 180)).frames())
    assert len(frames) in (12, 13)
    assert frames[0].pixels[40, 20, 0] > 200 > 60 > frames[0].pixels[40, 20, 2]


def test_an_animated_picture_stays_a_picture(tmp_path):
    for name in ("a.gif", "a.apng"):
        assert not is_video(video(tmp_path / name, RED_LEFT, "-f", name[2:]))


def test_the_camera_was_held_upright(tmp_path):
    lying = video(tmp_path / "lying.mp4", RED_LEFT)
    ffmpeg("-display_rotation", 90, "-i", lying, "-c", "copy", tmp_path / "upright.mp4")
    found = ReferenceVideo(tmp_path / "upright.mp4")
    assert (found.info.width, found.info.height) == (80, 120)
    pixels = next(found.frames()).pixels
    assert pixels.shape == (120, 80, 3)
    assert pixels[100, 40, 0] > 200  # the left side of the lying picture is below


def test_pixels_become_square(tmp_path):
    wide = video(tmp_path / "wide.mkv", RED_LEFT, "-vf", "setsar=3/2")
    assert probe_reference(wide) == (180, 80)
    assert next(ReferenceVideo(wide).frames()).pixels.shape == (80, 180, 3)


def test_hdr_looks_like_what_was_filmed(tmp_path):
    chain = "zscale=tin=709:min=709:pin=709:t=arib-std-b67:m=2020_ncl:p=2020:npl=203,format=yuv420p10le"
    tags = "log-level=none:colorprim=bt2020:transfer=arib-std-b67:colormatrix=bt2020nc"
    skin = "color=0xC03020:s=128x128:d=0.2:r=25,format=yuv420p"
    hdr = video(tmp_path / "hdr.mp4", skin, "-vf", chain, "-c:v", "libx265", "-x265-params", tags)
    found = ReferenceVideo(hdr)
    assert found.info.hdr
    pixels = next(found.frames()).pixels
    assert pixels.dtype == np.uint8
    assert np.abs(pixels.mean(axis=(0, 1)) - [0xC0, 0x30, 0x20]).max() < 20


def test_a_short_video_is_watched_without_gaps(tmp_path):
    frames = list(ReferenceVideo(video(tmp_path / "a.mp4", BRIGHTER.format(4))).frames())
    assert [frame.seconds for frame in frames] == pytest.approx([0.08 * n for n in range(50)])
    assert {frame.run for frame in frames} == {0}


def test_a_long_video_is_watched_in_runs_spread_over_its_first_minute(tmp_path):
    frames = list(ReferenceVideo(video(tmp_path / "a.mp4", BRIGHTER.format(70), "-crf", 1)).frames())
    assert len(frames) == MOST_FRAMES
    assert [frame.run for frame in frames] == [n // RUN_FRAMES for n in range(MOST_FRAMES)]
    assert frames[0].seconds == 0
    assert 55 < frames[-1].seconds < 60
    for frame in frames[::25]:  # every frame is the one of its time
        level = 20 + 25 * frame.seconds / 10
        assert abs(frame.pixels.mean() - level) < 2.5


def test_of_a_large_video_less_is_read(tmp_path):
    large = ReferenceVideo(video(tmp_path / "a.mp4", "color=red:s=3840x2160:r=60:d=0.1"))
    assert large._choice.seconds < 5
    assert large._size == (3840, 2160)
    assert ReferenceVideo(large.path, (640, 360))._size == (2560, 1440)


def test_a_slow_video_gives_frames_twice(tmp_path):
    frames = list(ReferenceVideo(video(tmp_path / "a.mp4", "testsrc=s=64x64:r=5:d=2")).frames())
    assert len(frames) == 25
    assert np.array_equal(frames[1].pixels, frames[2].pixels)


def test_sound_is_there_as_far_as_it_is_asked_for(tmp_path):
    path = tmp_path / "a.mp4"
    video(path, RED_LEFT, *SOUND)
    sound = ReferenceVideo(path).sound(0.5)
    assert sound is not None
    assert len(sound) == 8000
    assert np.abs(sound).max() > 0.05


def test_a_silent_film_has_no_sound(tmp_path):
    assert ReferenceVideo(video(tmp_path / "a.mp4", RED_LEFT)).sound(1.0) is None


def refused(tmp_path, name):
    with pytest.raises(InputError) as error:
        probe_reference(tmp_path / name)
    assert str(tmp_path / name) in error.value.message
    assert error.value.message.count("\n") == 0
    return error.value.message


def test_what_has_no_pictures_is_refused(tmp_path):
    ffmpeg(*SOUND, tmp_path / "speech.m4a")
    ffmpeg(*SOUND, tmp_path / "speech.wav")
    assert "sound but no pictures" in refused(tmp_path, "speech.m4a")
    assert "REF comes before SPEECH" in refused(tmp_path, "speech.wav")


def test_the_cover_of_a_record_is_not_the_person(tmp_path):
    video(tmp_path / "cover.png", RED_LEFT, "-frames:v", 1)
    ffmpeg(*SOUND, "-i", tmp_path / "cover.png", "-map", 0, "-map", 1, "-disposition:v", "attached_pic",
           tmp_path / "song.mp3")  # fmt: skip
    assert "sound but no pictures" in refused(tmp_path, "song.mp3")


def test_damaged_and_empty_files_are_refused(tmp_path):
    whole = video(tmp_path / "whole.mp4", RED_LEFT).read_bytes()
    (tmp_path / "cut.mp4").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty.mp4").write_bytes(b"")
    (tmp_path / "folder.mp4").mkdir()
    assert "is damaged or no video" in refused(tmp_path, "cut.mp4")
    assert "is empty" in refused(tmp_path, "empty.mp4")
    assert "cannot be read" in refused(tmp_path, "folder.mp4")
    assert "cannot be read" in refused(tmp_path, "missing.mp4")


def test_what_can_be_decoded_of_a_cut_video_is_used(tmp_path):
    whole = video(tmp_path / "whole.mpg", "testsrc=s=320x240:r=25:d=3").read_bytes()
    (tmp_path / "cut.mpg").write_bytes(whole[: len(whole) // 2])
    found = ReferenceVideo(tmp_path / "cut.mpg")
    assert 5 < len(list(found.frames())) < 30


def test_ffmpeg_ends_with_whoever_stops_reading(tmp_path):
    frames = ReferenceVideo(video(tmp_path / "a.mp4", "testsrc=s=640x480:r=25:d=10")).frames()
    next(frames)
    frames.close()
