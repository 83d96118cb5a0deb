import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from avatar_cli.media.ffmpeg import ChildProcess, ffmpeg_path
from avatar_cli.protocol.errors import EnvironmentProblem


def script(path: Path, text: str) -> Path:
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


def test_the_wheels_ffmpeg_is_the_default(monkeypatch):
    monkeypatch.delenv("AVATAR_FFMPEG", raising=False)
    assert "imageio_ffmpeg" in str(ffmpeg_path())


def test_the_environment_overrides_it(monkeypatch, tmp_path):
    monkeypatch.delenv("AVATAR_FFMPEG", raising=False)
    own = script(tmp_path / "my ffmpeg", f'exec "{ffmpeg_path()}" "$@"\n')
    monkeypatch.setenv("AVATAR_FFMPEG", str(own))
    assert ffmpeg_path() == own


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("exit 1\n", "does not run"),
        ("echo ' A....D aac AAC'\n", "no libx264 encoder"),
        ("echo ' V....D libx264 H.264'\n", "no aac encoder"),
        ("echo ' V....D libx264 H.264'; echo ' A....D aac AAC'\n", "too old"),
    ],
)
def test_an_ffmpeg_that_lacks_something_is_refused(monkeypatch, tmp_path, text, message):
    monkeypatch.setenv("AVATAR_FFMPEG", str(script(tmp_path / "ffmpeg", text)))
    with pytest.raises(EnvironmentProblem, match=message) as error:
        ffmpeg_path()
    assert "AVATAR_FFMPEG" in error.value.message


def test_an_ffmpeg_that_is_missing_or_not_a_program_is_refused(monkeypatch, tmp_path):
    plain = tmp_path / "ffmpeg"
    plain.write_text("not a program")
    for name in (plain, tmp_path / "absent"):
        monkeypatch.setenv("AVATAR_FFMPEG", str(name))
        with pytest.raises(EnvironmentProblem, match="not a program that can be run"):
            ffmpeg_path()


def test_a_child_leads_a_session_of_its_own():
    child = ChildProcess(["sleep", "60"])
    assert os.getsid(child.pid) == child.pid != os.getsid(0)
    child.kill()


def test_a_killed_child_names_its_signal():
    child = ChildProcess(["sleep", "60"])
    os.kill(child.pid, signal.SIGSEGV)
    assert child.complaint() == "it was killed by SIGSEGV"


def test_a_child_may_talk_without_end():
    chatter = "import sys\nfor n in range(200000): print('line', n, file=sys.stderr)"
    child = ChildProcess([sys.executable, "-c", chatter])
    assert child.wait(60) == 0
    assert child.complaint() is None
    assert child.lines[-1] == "line 199999"
    assert len(child.lines) < 2000


def test_the_first_error_is_the_complaint():
    words = (
        "echo '[info] talk' >&2; echo '[mp4 @ 0x5f] [error] No space left.' >&2;"
        " echo '[error] Conversion failed' >&2; exit 1"
    )
    assert ChildProcess(["sh", "-c", words]).complaint() == "No space left"
    assert (
        ChildProcess(["sh", "-c", "echo '[info] talk' >&2; exit 7"]).complaint() == "it ended with status 7"
    )
    assert ChildProcess(["sh", "-c", "echo '[warning] hm' >&2"]).complaint() is None


def test_a_child_inherits_only_what_it_is_given():
    given, kept = os.pipe()
    child = ChildProcess(["ls", "/proc/self/fd"], stdout=subprocess.PIPE, pass_fds=[given])
    seen = {int(name) for name in child.stdout.read().split()}
    child.wait()
    child.stdout.close()
    os.close(given)
    os.close(kept)
    assert given in seen
    assert kept not in seen
