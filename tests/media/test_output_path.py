import os
import subprocess
import sys
from pathlib import Path

import pytest

from avatar_cli.media.output_path import check_output, partial_path
from avatar_cli.protocol.errors import EnvironmentProblem, UsageError


def test_a_new_file_is_fine(tmp_path):
    check_output(tmp_path / "out.mp4", overwrite=False)


def test_an_existing_file_needs_overwrite(tmp_path):
    output = tmp_path / "out.mp4"
    output.write_bytes(b"precious")
    with pytest.raises(UsageError, match="--overwrite"):
        check_output(output, overwrite=False)
    check_output(output, overwrite=True)
    assert output.read_bytes() == b"precious"


def test_an_input_is_never_overwritten_by_whatever_name(tmp_path):
    source = tmp_path / "speech.mp4"
    source.write_bytes(b"speech")
    link = tmp_path / "link.mp4"
    link.symlink_to(source)
    with pytest.raises(UsageError, match="is an input"):
        check_output(link, overwrite=True, inputs=[source])


def test_an_input_that_is_named_like_the_partial_file_is_not_overwritten(tmp_path):
    source = partial_path(tmp_path / "out.mp4")
    source.write_bytes(b"speech")
    with pytest.raises(UsageError, match="is an input"):
        check_output(tmp_path / "out.mp4", overwrite=True, inputs=[source])


@pytest.mark.parametrize("name", ["out.mkv", "out", "folder.mp4"])
def test_what_cannot_be_an_mp4_is_refused(tmp_path, name):
    (tmp_path / "folder.mp4").mkdir()
    with pytest.raises(UsageError):
        check_output(tmp_path / name, overwrite=True)


def test_a_name_that_is_too_long_with_partial_in_it_is_refused(tmp_path):
    with pytest.raises(EnvironmentProblem, match=r"\(File name too long\): choose another name"):
        check_output(tmp_path / f"{'x' * 246}.mp4", overwrite=False, inputs=[tmp_path])


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(EnvironmentProblem, match="nowhere of the output does not exist"):
        check_output(tmp_path / "nowhere" / "out.mp4", overwrite=False)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o555)
    if os.access(folder, os.W_OK):  # root may write anywhere: look with another user's eyes
        code = (
            "import os, sys; from pathlib import Path; from avatar_cli.media.output_path import check_output;"
            "os.setgid(65534); os.setuid(65534); check_output(Path(sys.argv[1]), False)"
        )
        for parent in folder.parents[:3]:
            parent.chmod(parent.stat().st_mode | 0o055)
        seen = subprocess.run(
            [sys.executable, "-c", code, folder / "out.mp4"], capture_output=True, text=True, check=False
        )
        assert "EnvironmentProblem" in seen.stderr, seen.stderr
        assert "cannot be written" in seen.stderr
    else:
        with pytest.raises(EnvironmentProblem, match="cannot be written"):
            check_output(folder / "out.mp4", overwrite=False)


def test_the_partial_file_lies_beside_the_output():
    assert partial_path(Path("/videos/out.v2.mp4")) == Path("/videos/out.v2.partial.mp4")
