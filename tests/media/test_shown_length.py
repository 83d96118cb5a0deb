from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from avatar_cli.media.decoding import read_frames
from avatar_cli.media.mp4_out import Mp4Writer, SoundFormat, VideoFormat
from avatar_cli.media.probe_mp4 import probe_mp4
from avatar_cli.media.shown_length import show_every_frame
from avatar_cli.protocol.job import Encoding

FPS = Fraction(25)


def write_video(path: Path, frames: int) -> Path:
    """A picture that moves by a pixel a frame, which the encoder's own choice makes B-frames of."""
    picture = np.random.default_rng(0).integers(0, 255, (64, 64 + frames, 3), dtype=np.uint8)
    encoding = Encoding("veryfast", 20, 64)
    writer = Mp4Writer(path, VideoFormat(64, 64, FPS), SoundFormat(16000, 1), encoding)
    writer.write_sound(np.zeros((frames * 640, 1), np.float32))
    writer.end_sound()
    for frame in range(frames):
        writer.write_frame(np.ascontiguousarray(picture[:, frame : frame + 64]))
    return writer.finish()


# Lengths at which ffmpeg's own end of the track hid the last picture, and one at which it did not.
@pytest.mark.parametrize("frames", [26, 27, 31, 43, 47, 50])
def test_a_player_shows_the_last_picture_whatever_the_length(tmp_path, frames):
    video = write_video(tmp_path / "out.mp4", frames)
    assert sum(1 for _ in read_frames(video)) == frames
    assert probe_mp4(video).video.end == frames / FPS


def test_a_file_whose_every_frame_is_shown_stays_as_it_is(tmp_path):
    video = write_video(tmp_path / "out.mp4", 26)
    before = video.read_bytes()
    show_every_frame(video)
    assert video.read_bytes() == before
