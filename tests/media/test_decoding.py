import subprocess
import wave
from fractions import Fraction

import numpy as np
import psutil
import pytest

from avatar_cli.media.decoding import extract_wav, pictures_of, read_frames, read_sound
from avatar_cli.media.ffmpeg import ChildProcess, ffmpeg_path


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    """Two seconds at 30 frames/s: frame k is gray level 2 k; a click at 1.0 s in silence."""
    path = tmp_path_factory.mktemp("clip") / "clip.mkv"
    sources = [
        ["-f", "lavfi", "-i", "color=black:s=66x50:r=30:d=2,format=gray,geq=lum=2*N"],
        ["-f", "lavfi", "-i", "aevalsrc='gte(t,1)*lt(t,1.01)':s=48000:d=2"],
    ]
    codecs = ["-c:v", "ffv1", "-pix_fmt", "gray", "-c:a", "pcm_s16le"]
    command = [str(ffmpeg_path()), "-v", "error", *sources[0], *sources[1], *codecs, str(path)]
    subprocess.run(command, check=True)
    return path


def test_every_frame_comes_as_it_is(clip):
    frames = list(read_frames(clip))

    assert len(frames) == 60
    assert {frame.shape for frame in frames} == {(50, 66, 3)}
    assert [int(frame[0, 0, 0]) for frame in frames] == [2 * index for index in range(60)]


def test_another_rate_keeps_the_time(clip):
    frames = list(read_frames(clip, fps=Fraction(15), seconds=1.0))

    assert len(frames) == 15
    times = np.array([frame[0, 0, 0] / 2 / 30 for frame in frames])
    assert np.abs(times - np.arange(15) / 15).max() <= 1 / 30 + 1e-6


def test_a_reader_that_stops_early_leaves_no_process(clip):
    frames = read_frames(clip)
    next(frames)
    frames.close()

    children = psutil.Process().children()
    assert not [child for child in children if "ffmpeg" in child.name()]


@pytest.mark.parametrize("beginning", ["P6\\n2", "P6\\n2 2\\n255\\n", "P6\\n2 2\\n255\\n123456789ab"])
def test_a_picture_that_is_cut_off_is_none(beginning):
    whole = "P6\\n2 2\\n255\\n123456789abc"
    child = ChildProcess(["printf", whole + beginning], stdout=subprocess.PIPE)

    [picture] = pictures_of(child)

    assert picture.shape == (2, 2, 3)
    assert picture[1, 1].tobytes() == b"abc"


def test_a_file_that_is_no_video_is_reported_with_ffmpegs_words(tmp_path):
    text = tmp_path / "text.mp4"
    text.write_text("no video")

    with pytest.raises(RuntimeError, match=r"(?s)text\.mp4.*moov atom not found"):
        list(read_frames(text))


@pytest.mark.parametrize(("start", "click"), [(0.0, 1.0), (0.24, 0.76), (-0.24, 1.24)])
def test_sound_is_moved_in_time(clip, tmp_path, start, click):
    wav = tmp_path / "moved.wav"

    extract_wav(clip, wav, start=start, seconds=1.5)

    with wave.open(str(wav)) as file:
        assert (file.getframerate(), file.getnframes()) == (48_000, 72_000)
    samples = np.abs(read_sound(wav))
    assert np.flatnonzero(samples > 0.5)[0] / 16_000 == pytest.approx(click, abs=0.002)
