import subprocess
from fractions import Fraction

import numpy as np
import pytest

from avatar_cli.assets import asset_path
from avatar_cli.evaluation.encoder_speed import EncoderRun, encoder_fps
from avatar_cli.evaluation.silence import write_silence
from avatar_cli.media.decoding import read_frames
from avatar_cli.media.ffmpeg import ffmpeg_path
from avatar_cli.protocol.events import now
from avatar_cli.protocol.job import Encoding


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    """Ten frames of the bundled photo, moving to the left."""
    path = tmp_path_factory.mktemp("video") / "video.mkv"
    source = ["-loop", "1", "-i", str(asset_path("demo/reference.png")), "-frames:v", "10"]
    filters = ["-vf", "crop=256:256:10*n:100,format=gbrp", "-c:v", "ffv1"]
    subprocess.run([str(ffmpeg_path()), "-v", "error", *source, *filters, str(path)], check=True)
    return path


@pytest.mark.parametrize("fps", [25, 120])  # at 120 a second the encoder waits for sound of later frames
def test_the_frames_of_the_video_are_encoded_there_and_back_again(video, tmp_path, fps):
    write_silence(tmp_path / "speech.wav", 2)
    run = EncoderRun(video, tmp_path / "speech.wav", Fraction(fps), Encoding("ultrafast", 1, 96), 40, 10)
    started = now()

    speed = encoder_fps(run, tmp_path / "out.mp4")

    assert speed >= 30 / (now() - started)
    source, encoded = list(read_frames(video)), list(read_frames(tmp_path / "out.mp4"))
    assert len(encoded) == 40
    order = [*range(10), *range(8, 0, -1)]
    for index, frame in enumerate(encoded):
        distances = [np.abs(frame.astype(int) - other).mean() for other in source]
        assert np.argmin(distances) == order[index % len(order)]
