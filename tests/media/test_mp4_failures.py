"""What is left, and what is said, when something dies."""

import os
import resource
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from avatar_cli.media.decoding import read_frames
from avatar_cli.media.ffmpeg import ffmpeg_path
from avatar_cli.media.mp4_out import Mp4Writer, SoundFormat, VideoFormat, partial_path
from avatar_cli.media.probe_mp4 import decoding_fault, probe_mp4
from avatar_cli.protocol.errors import EnvironmentProblem, RenderFailure
from avatar_cli.protocol.job import Encoding

WRITING_PROCESS = """
import os, sys, time
from fractions import Fraction
from pathlib import Path
import numpy as np
from avatar_cli.media.mp4_out import Mp4Writer, SoundFormat, VideoFormat
from avatar_cli.protocol.job import Encoding

writer = Mp4Writer(Path(sys.argv[1]), VideoFormat(128, 96, Fraction(25)), SoundFormat(16000, 1),
                   Encoding("veryfast", 20, 64), lambda: print("plays", flush=True))
print(writer.pid, flush=True)
for index in range(100000):
    writer.write_sound(np.zeros((640, 1), np.float32))
    writer.write_frame(np.full((96, 128, 3), index % 256, np.uint8))
    time.sleep(0.004)
"""


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(condition, seconds: float = 15.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.01)


def feed(render, frames: int) -> None:
    for index in range(frames):
        render.frame(index)


def test_the_partial_file_plays_while_it_grows(start_render, tmp_path):
    render = start_render()
    partial, copy = partial_path(tmp_path / "out.mp4"), tmp_path / "copy.mp4"
    seen, size = [], 0
    for index in range(10_000):  # as many as it takes on a machine that does other things as well
        render.frame(index)
        if render.first_bytes and index % 20 == 0 and partial.stat().st_size > size:
            size = copy.write_bytes(partial.read_bytes())
            seen.append(sum(1 for _ in read_frames(copy)))
            if len(seen) == 4:
                break
    render.writer.finish()
    assert len(seen) == 4
    assert seen == sorted(seen)
    assert seen[-1] > seen[0] > 0


def test_after_sigkill_of_ffmpeg_the_partial_file_plays_and_the_error_says_so(start_render, tmp_path):
    output = tmp_path / "out.mp4"
    output.write_bytes(b"precious")
    render = start_render(output)
    feed(render, 100)
    wait_until(lambda: render.first_bytes)
    os.kill(render.writer.pid, signal.SIGKILL)
    started = time.monotonic()
    with pytest.raises(RenderFailure, match=r"out\.partial\.mp4: it was killed by SIGKILL"):
        feed(render, 1000)
    with pytest.raises(RenderFailure, match="SIGKILL"):
        render.writer.finish()
    assert time.monotonic() - started < 5
    assert decoding_fault(partial_path(output)) is None
    assert len(probe_mp4(partial_path(output)).video.times) > 20
    assert output.read_bytes() == b"precious"


def test_a_death_is_noticed_by_sound_alone(start_render):
    render = start_render()
    os.kill(render.writer.pid, signal.SIGKILL)
    with pytest.raises(RenderFailure, match="SIGKILL"):
        for _second in range(10_000):
            render.writer.write_sound(np.zeros((22050, 1), np.float32))


def test_a_death_just_before_the_end_is_not_taken_for_success(start_render, tmp_path):
    render = start_render()
    feed(render, 10)
    os.kill(render.writer.pid, signal.SIGKILL)
    with pytest.raises(RenderFailure, match="SIGKILL"):
        render.writer.finish()
    assert not (tmp_path / "out.mp4").exists()
    assert render.first_bytes == 0


def test_a_polite_end_of_ffmpeg_from_outside_is_a_failure_too(start_render):
    render = start_render()
    feed(render, 10)
    os.kill(render.writer.pid, signal.SIGTERM)
    with pytest.raises(RenderFailure):
        feed(render, 1000)


def test_after_sigkill_of_the_writing_process_ffmpeg_ends_and_the_file_plays(tmp_path):
    output = tmp_path / "out.mp4"
    output.write_bytes(b"precious")
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITING_PROCESS, output], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    with writer.stdout:
        ffmpeg = int(writer.stdout.readline())
        assert writer.stdout.readline() == "plays\n"
    time.sleep(0.5)
    writer.kill()
    writer.wait()
    wait_until(lambda: not running(ffmpeg))
    partial = partial_path(output)
    assert decoding_fault(partial) is None
    facts = probe_mp4(partial)
    assert len(facts.video.times) > 20
    assert abs(facts.video.end - facts.sound.end) < 0.2
    assert output.read_bytes() == b"precious"


def test_an_abandoned_render_leaves_a_complete_partial_file_and_no_process(start_render, tmp_path):
    output = tmp_path / "out.mp4"
    render = start_render(output)
    feed(render, 40)
    partial = render.writer.abandon()
    assert not running(render.writer.pid)
    assert partial == partial_path(output)
    assert not output.exists()
    facts = probe_mp4(partial)
    assert len(facts.video.times) == 40
    assert decoding_fault(partial) is None
    for go_on in (lambda: render.frame(40), render.writer.finish):
        with pytest.raises(RenderFailure, match="given up"):
            go_on()
    assert not output.exists()


def test_one_render_ends_while_another_goes_on(start_render, tmp_path):
    first = start_render(tmp_path / "first.mp4")
    second = start_render(tmp_path / "second.mp4")
    third = start_render(tmp_path / "third.mp4")
    for render in (first, second, third):
        feed(render, 5)
    for render in (second, first, third):
        assert render.writer.finish().exists()


def test_abandoning_a_stopped_ffmpeg_does_not_hang(start_render, monkeypatch):
    monkeypatch.setattr("avatar_cli.media.mp4_out._ABANDON_SECONDS", 0.3)
    render = start_render()
    feed(render, 3)
    os.kill(render.writer.pid, signal.SIGSTOP)
    render.writer.abandon()
    assert not running(render.writer.pid)


def test_a_missing_folder_is_told(start_render, tmp_path):
    with pytest.raises(EnvironmentProblem, match=r"nowhere.*\(No such file or directory\): .*another folder"):
        start_render(tmp_path / "nowhere" / "out.mp4")


def test_a_second_render_to_the_same_file_leaves_the_first_alone(start_render, tmp_path):
    first = start_render()
    first.frame(0)
    with pytest.raises(EnvironmentProblem, match=r"Another render is writing .*out\.partial\.mp4"):
        start_render()
    first.frame(1)
    output = first.writer.finish()
    assert len(list(read_frames(output))) == 2
    second = start_render()
    assert output.exists()
    second.writer.abandon()
    third = start_render()
    third.frame(0)
    third.writer.finish()


def test_a_link_in_the_place_of_the_partial_file_is_not_followed(start_render, tmp_path):
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "out.partial.mp4").symlink_to(tmp_path / "precious")
    render = start_render()
    render.frame(0)
    render.writer.finish()
    assert (tmp_path / "precious").read_text() == "precious"


def test_a_bad_option_is_told_in_ffmpegs_words(tmp_path):
    writer = Mp4Writer(
        tmp_path / "out.mp4",
        VideoFormat(64, 64, Fraction(25)),
        SoundFormat(16000, 1),
        Encoding("bogus", 20, 64),
    )
    writer.write_sound(np.zeros((640, 1), np.float32))
    writer.write_frame(np.zeros((64, 64, 3), np.uint8))
    with pytest.raises(RenderFailure, match=r"preset.*bogus") as error:
        writer.finish()
    assert "\n" not in error.value.message


@pytest.fixture
def tiny_disk(tmp_path):
    folder = tmp_path / "tiny"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


def noisy_frames(render, frames: int) -> None:
    noise = np.random.default_rng(0)
    for index in range(frames):
        render.frame(index, noise.integers(0, 255, (96, 128, 3), np.uint8))


def test_a_full_disk_is_told_in_ffmpegs_words_and_leaves_what_plays(start_render, tiny_disk):
    output = tiny_disk / "out.mp4"
    output.write_bytes(b"precious")
    render = start_render(output)
    with pytest.raises(EnvironmentProblem, match="No space left on device; make room"):
        noisy_frames(render, 2000)
    assert output.read_bytes() == b"precious"
    argv = [
        ffmpeg_path(),
        "-loglevel",
        "quiet",
        "-i",
        partial_path(output),
        "-map",
        "0:v",
        "-f",
        "framemd5",
        "-",
    ]
    decoded = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert sum(line.startswith("0,") for line in decoded.stdout.splitlines()) > 5


def test_a_file_size_limit_is_told(start_render, tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        render = start_render()
        with pytest.raises(RenderFailure, match="killed by SIGXFSZ"):
            noisy_frames(render, 2000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
