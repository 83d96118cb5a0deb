from pathlib import Path

import numpy as np
import pytest

from avatar_cli.media.frame_hashes import FrameHashWriter
from avatar_cli.protocol.errors import EnvironmentProblem


def test_one_line_a_frame_written_as_it_goes(tmp_path):
    path = tmp_path / "hashes.txt"
    writer = FrameHashWriter(path)
    frame = np.zeros((4, 6, 3), np.uint8)
    writer.write_frame(frame)
    assert len(path.read_text().splitlines()) == 1
    frame[3, 5, 2] = 1
    writer.write_frame(frame)
    writer.write_frame(np.zeros((4, 6, 3), np.uint8))
    writer.close()
    first, second, third = path.read_text().splitlines()
    assert first == third != second
    assert len(first) == 32
    assert int(first, 16)


def test_a_view_hashes_like_its_copy(tmp_path):
    wide = np.arange(4 * 8 * 3, dtype=np.uint8).reshape(4, 8, 3)
    writer = FrameHashWriter(tmp_path / "hashes.txt")
    writer.write_frame(wide[:, ::2])
    writer.write_frame(wide[:, ::2].copy())
    writer.close()
    first, second = (tmp_path / "hashes.txt").read_text().splitlines()
    assert first == second


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(EnvironmentProblem, match="nowhere"):
        FrameHashWriter(tmp_path / "nowhere" / "hashes.txt")


def test_a_full_disk_is_told():
    writer = FrameHashWriter(Path("/dev/full"))
    with pytest.raises(EnvironmentProblem, match=r"/dev/full \(No space left"):
        writer.write_frame(np.zeros((2, 2, 3), np.uint8))
    writer.close()
