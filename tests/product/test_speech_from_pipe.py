"""A speech from standard input, as people pipe it: the same video, and nothing left when it ends badly."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest

from avatar_cli.assets import asset_path
from avatar_cli.media.probe_mp4 import read_sound

REFERENCE = asset_path("demo/reference.png")
FPS = ("--fps", "30")
CHEAP = ("--size", "64x64", "--steps", "1", "-s", "encoding.preset=ultrafast")
PATIENCE = 120.0  # seconds; for a machine that does other things as well


def start(*words, **options):
    argv = [sys.executable, "-m", "avatar_cli", "render", str(REFERENCE), *map(str, words), *CHEAP]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def wait_for_frames(partial, process):
    deadline = time.monotonic() + PATIENCE
    while not partial.exists() or partial.stat().st_size < 2000:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture(scope="module")
def file(tmp_path_factory, write_speech):
    """The video of a speech in a file, beside the speech and the hashes of its frames."""
    folder = tmp_path_factory.mktemp("file")
    write_speech(folder / "speech.wav", 4.1)
    words = (folder / "speech.wav", "-o", folder / "file.mp4", "--frame-hashes", folder / "hashes", *FPS)
    done = start(*words)
    _, errors = done.communicate(timeout=PATIENCE)
    assert done.returncode == 0, errors
    return folder


@pytest.mark.parametrize("options", [(), ("--nproc", "2", "--mode", "batch")])
def test_a_slow_pipe_gives_the_frames_and_the_sound_of_the_file(options, file, tmp_path):
    output, hashes = tmp_path / "pipe.mp4", tmp_path / "hashes"
    piped = start("-", "-o", output, "--frame-hashes", hashes, *FPS, *options)
    data = (file / "speech.wav").read_bytes()
    size = len(data) // 7
    for place in range(0, 6 * size, size):
        piped.stdin.write(data[place : place + size])
        piped.stdin.flush()
        time.sleep(0.2)
    if not options:
        wait_for_frames(tmp_path / "pipe.partial.mp4", piped)  # before the rest has come
    _, errors = piped.communicate(data[6 * size :], timeout=PATIENCE)
    assert piped.returncode == 0, errors
    assert len(hashes.read_text().splitlines()) == 123
    assert hashes.read_text() == (file / "hashes").read_text()
    assert np.array_equal(read_sound(output), read_sound(file / "file.mp4"))


def test_a_killed_command_leaves_no_process_and_no_temporary_file(speech, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = start("-", "-o", tmp_path / "out.mp4", env=os.environ | {"TMPDIR": str(temporary)})
    process.stdin.write(speech(6.0).read_bytes()[:200_000])
    process.stdin.flush()
    wait_for_frames(tmp_path / "out.partial.mp4", process)
    family = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    left = psutil.wait_procs(family, 30)[1]
    assert [other for other in left if other.status() != psutil.STATUS_ZOMBIE] == []
    assert list(temporary.iterdir()) == []


def test_an_empty_pipe_is_bad_input_and_the_video_is_named_after_the_photo(tmp_path):
    process = start("-", cwd=tmp_path)
    _, errors = process.communicate(b"", timeout=PATIENCE)
    assert process.returncode == 3
    assert errors.decode() == "avatar: error: stdin is empty: give a recording of speech.\n"
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_ends_waiting_for_the_first_byte(tmp_path):
    process = start("-", "-o", tmp_path / "out.mp4")
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 130
    process.communicate()
    assert list(tmp_path.iterdir()) == []
