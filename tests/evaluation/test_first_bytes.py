from fractions import Fraction

import numpy as np

from avatar_cli.evaluation.first_bytes import GrowingFile, Snapshot, decodes_a_frame, first_playable
from avatar_cli.media.mp4_out import Mp4Writer, SoundFormat, VideoFormat, partial_path
from avatar_cli.protocol.events import now
from avatar_cli.protocol.job import Encoding

FPS = Fraction(25)
RATE = 16_000


def write(output, frames, on_first_bytes=None):
    """Encodes moving noise; returns when the first frame was handed over."""
    writer = Mp4Writer(
        output, VideoFormat(320, 180, FPS), SoundFormat(RATE, 1), Encoding("veryfast", 20, 96), on_first_bytes
    )
    noise = np.random.default_rng(0).integers(0, 255, (180, 320 + frames, 3), np.uint8)
    started = now()
    for frame in range(frames):
        writer.write_sound(np.zeros((RATE // 25, 1), np.float32))
        writer.write_frame(np.ascontiguousarray(noise[:, frame : frame + 320]))
    writer.finish()
    return started


def test_the_moment_lies_between_the_first_frame_and_the_end_and_agrees_with_the_writers_own(tmp_path):
    output = tmp_path / "out.mp4"
    own = []
    growing = GrowingFile(partial_path(output))
    started = write(output, 200, lambda: own.append(now()))
    ended = now()
    snapshots = growing.stop()

    moment = first_playable(snapshots)

    assert moment is not None
    assert started < moment < ended
    assert abs(moment - own[0]) < 0.5


def test_a_file_without_a_whole_picture_does_not_play(tmp_path):
    output = tmp_path / "out.mp4"
    write(output, 30)
    whole = output.read_bytes()

    assert decodes_a_frame(whole)
    assert not decodes_a_frame(whole[:40])
    assert not decodes_a_frame(b"")
    assert first_playable([Snapshot(1.0, whole[:40]), Snapshot(2.0, whole), Snapshot(3.0, whole)]) == 2.0
    assert first_playable([Snapshot(1.0, whole[:40])]) is None
