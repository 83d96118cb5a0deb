import subprocess
from bisect import bisect_left

import pytest

from avatar_cli.media.ffmpeg import ffmpeg_path
from avatar_cli.media.fragment_watch import has_fragment
from avatar_cli.media.mp4_out import partial_path


def decoded_frames(path) -> int:
    argv = [ffmpeg_path(), "-loglevel", "quiet", "-i", path, "-map", "0:v", "-f", "framemd5", "-"]
    seen = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    return sum(line.startswith("0,") for line in seen.stdout.splitlines())


@pytest.fixture
def growing_file(start_render, tmp_path) -> bytes:
    render = start_render()
    index = 0
    while not render.first_bytes:
        render.frame(index)
        index += 1
    data = partial_path(tmp_path / "out.mp4").read_bytes()
    render.writer.abandon()
    return data


def test_a_file_has_a_fragment_exactly_from_the_byte_that_completes_it(growing_file, tmp_path):
    path = tmp_path / "prefix.mp4"

    def found(length: int) -> bool:
        path.write_bytes(growing_file[:length])
        return has_fragment(path)

    first = bisect_left(range(len(growing_file) + 1), True, key=found)
    assert found(first)
    assert not any(found(length) for length in range(0, first, 50))
    assert all(found(length) for length in range(first, len(growing_file) + 1, 50))
    path.write_bytes(growing_file[:first])
    assert decoded_frames(path) >= 5
    assert growing_file[first + 4 : first + 8] in (b"", b"moof")


def test_other_bytes_are_no_fragment(tmp_path):
    path = tmp_path / "other.mp4"
    for data in (b"", b"moof", bytes(100), b"\0\0\0\x10moovxxxxxxxx" * 3, b"\xff" * 50):
        path.write_bytes(data)
        assert not has_fragment(path)
