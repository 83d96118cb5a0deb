import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from avatar_cli.assets import asset_path
from avatar_cli.cli.evaluate import chunk_lengths
from avatar_cli.media.ffmpeg import ffmpeg_path
from avatar_cli.protocol.errors import InputError


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    """Two seconds of a photo that does not move, with speech."""
    path = tmp_path_factory.mktemp("video") / "still.mp4"
    picture = ["-loop", "1", "-framerate", "25", "-i", str(asset_path("demo/reference.png"))]
    sound = ["-i", str(asset_path("demo/speech.wav"))]
    shape = ["-t", "2", "-vf", "scale=256:256", "-pix_fmt", "yuv420p"]
    command = [str(ffmpeg_path()), "-v", "error", "-nostdin", *picture, *sound, *shape, str(path)]
    subprocess.run(command, check=True)
    return path


def evaluate(*words, before=()):
    command = [*before, sys.executable, "-m", "avatar_cli", "evaluate", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_figures_go_to_stdout_as_json_alone_and_to_a_page(video, tmp_path):
    page = tmp_path / "page.html"

    result = evaluate(video, "--json", "-", "--html", page)

    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert result.stderr == f"avatar: watching {video} ...\n"
    assert found["frames"] == 50
    assert found["figures"]["blinks"]["value"] == 0
    assert found["figures"]["yaw_deviation"]["verdict"] == "missed"  # a photo does not move
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_the_table_compares_with_the_real_person(video, tmp_path):
    written = tmp_path / "figures.json"

    result = evaluate(video, "--truth", video, "--lag", "0", "--json", written)

    assert result.returncode == 0, result.stderr
    assert "real person" in result.stdout
    assert "mouth opening, correlation" in result.stdout
    assert json.loads(written.read_text())["truth"] == str(video)


def test_chunk_lengths_come_from_the_report_of_the_render(video, tmp_path):
    report = tmp_path / "report.json"
    report.write_text(_report(20, 0))

    result = evaluate(video, "--report", report, "--json", "-")

    figures = json.loads(result.stdout)["figures"]
    assert figures["mouth_border_position"]["note"].startswith("2 borders")


@pytest.mark.parametrize("option", ["--truth", "--face-model", "--phones", "--report"])
def test_a_file_that_is_not_there_is_bad_input(video, option):
    result = evaluate(video, option, "absent.bin")

    assert result.returncode == 3
    assert result.stderr.splitlines()[-1].startswith("avatar: error: absent.bin cannot be read")


@pytest.mark.parametrize("option", ["video", "--truth", "--phones", "--report"])
def test_a_folder_that_may_not_be_searched_is_bad_input(video, tmp_path, option):
    if os.getuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root may read everything, and there is no setpriv to take that right away")
    rights = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.getuid() == 0 else []
    shut = tmp_path / "lock"
    shut.mkdir()
    shut.chmod(0o600)
    words = (shut / "x",) if option == "video" else (video, option, shut / "x")

    result = evaluate(*words, before=rights)

    shut.chmod(0o700)
    assert result.returncode == 3
    assert result.stderr == f"avatar: error: {shut}/x cannot be read (Permission denied): check the name.\n"


def _report(frames, interpolated):
    return json.dumps({"job": {"generation": {"chunk_frames": frames, "interpolated_frames": interpolated}}})


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[1]",
        "no JSON",
        "[" * 100_000,
        _report(0, 0),
        _report(0, 10),
        _report(48, -1),
        _report("x", 10),
        _report(48, None),
        _report(48.5, 10),
        _report(True, 10),
    ],
    ids=range(11),
)
def test_a_file_that_is_no_report_is_bad_input(tmp_path, text):
    path = tmp_path / "report.json"
    path.write_text(text)

    with pytest.raises(InputError, match=r"report\.json is not the report of a render: give what"):
        chunk_lengths(path)


def test_a_report_is_read_before_anything_is_measured(video, tmp_path):
    path = tmp_path / "report.json"
    path.write_text(_report(0, 0))

    result = evaluate(video, "--report", path)

    assert result.returncode == 3
    assert result.stderr.startswith(f"avatar: error: {path} is not the report of a render")
    assert result.stderr.count("\n") == 1


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A second of two people side by side, the smaller one on the left."""
    path = tmp_path_factory.mktemp("video") / "pair.mp4"
    picture = ["-loop", "1", "-framerate", "25", "-i", str(asset_path("demo/reference.png"))]
    small = "[0]scale=192:192,pad=192:256[left];[0]scale=256:256[right];[left][right]hstack"
    shape = ["-t", "1", "-filter_complex", small, "-pix_fmt", "yuv420p"]
    subprocess.run([str(ffmpeg_path()), "-v", "error", "-nostdin", *picture, *shape, str(path)], check=True)
    return path


def test_a_video_of_several_people_says_whom_it_measures(pair):
    result = evaluate(pair, "--json", "-")

    assert result.returncode == 0, result.stderr
    assert result.stderr == (
        f"avatar: watching {pair} ...\n"
        f"avatar: warning: {pair} shows 2 faces and the largest is measured: choose another with --face 1 to "
        "2, counted from the left.\n"
    )
    assert json.loads(result.stdout)["faces"] == 2


def test_a_chosen_face_needs_no_warning_and_must_be_there(pair):
    chosen = evaluate(pair, "--face", "1", "--json", "-")
    absent = evaluate(pair, "--face", "3")

    assert (chosen.returncode, chosen.stderr) == (0, f"avatar: watching {pair} ...\n")
    assert absent.returncode == 2
    assert "there is no --face 3" in absent.stderr


def test_strict_says_by_its_exit_code_that_a_figure_is_missed(video, tmp_path):
    page, written = tmp_path / "page.html", tmp_path / "figures.json"
    page.write_text("older")
    written.write_text("older")

    result = evaluate(video, "--strict", "--json", written, "--html", page)

    assert result.returncode == 1
    row = next(row for row in result.stdout.splitlines() if row.startswith("head yaw, s.d."))
    assert "missed" in row
    told = result.stderr.splitlines()[-1]
    assert told.startswith("avatar: 4 figures miss: head yaw, s.d. 0.0")
    assert "° (0.8 to 4°); head pitch, s.d. 0.0" in told
    assert told.endswith("; blinks a minute 0 (8 to 30)")
    assert json.loads(written.read_text())["figures"]["yaw_deviation"]["verdict"] == "missed"
    assert page.read_text().rstrip().endswith("</html>")


def _sound(path):
    shutil.copy(asset_path("demo/speech.wav"), path)


def _picture(path):
    shutil.copy(asset_path("demo/reference.png"), path)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (Path.touch, "is empty: give a video file."),
        (lambda path: path.write_text("text"), "is no video, or one that was cut off: give a whole video"),
        (_sound, "holds sound but no picture: give a video file."),
        (_picture, "is a single picture: give a video of a second or more."),
        (os.mkfifo, "is not a file but a pipe or a device"),
    ],
    ids=["empty", "text", "sound", "picture", "pipe"],
)
def test_a_file_that_is_no_video_is_bad_input_in_one_sentence(tmp_path, make, words):
    path = tmp_path / "me.mp4"
    make(path)

    result = evaluate(path)

    assert result.returncode == 3
    *before, last = result.stderr.splitlines()
    assert last.startswith(f"avatar: error: {path} {words}")
    assert before == ([f"avatar: watching {path} ..."] if make is _picture else [])


def test_a_lag_without_a_recording_is_a_wrong_command_line(video):
    result = evaluate(video, "--lag", "3")

    assert result.returncode == 2
    assert "--truth" in result.stderr


@pytest.mark.parametrize("option", ["--html", "--json"])
@pytest.mark.parametrize("given", ["video", "--truth", "--phones", "--report", "--face-model"])
def test_an_input_is_never_overwritten(tmp_path, video, option, given):
    copy = shutil.copy(video, tmp_path / "ok.mp4")
    mine = copy if given == "video" else tmp_path / "mine"
    mine.touch()
    held = mine.read_bytes()
    words = () if given == "video" else (given, mine)

    result = evaluate(copy, *words, option, mine)

    assert result.returncode == 2
    assert result.stderr == (
        f"avatar: error: {mine} is an input, the video itself or asked for twice: name another file.\n"
    )
    assert mine.read_bytes() == held


def test_another_name_of_the_video_is_the_video(tmp_path, video):
    copy = shutil.copy(video, tmp_path / "ok.mp4")
    (tmp_path / "hard.html").hardlink_to(copy)
    (tmp_path / "soft.html").symlink_to("ok.mp4")

    codes = [evaluate(copy, "--html", tmp_path / f"{name}.html").returncode for name in ("hard", "soft")]

    assert codes == [2, 2]
    assert copy.read_bytes() == video.read_bytes()


def test_two_outputs_need_two_names(tmp_path, video):
    result = evaluate(video, "--html", tmp_path / "same", "--json", tmp_path / "same")

    assert result.returncode == 2
    assert "asked for twice" in result.stderr
    assert not (tmp_path / "same").exists()


@pytest.mark.parametrize("option", ["--html", "--json"])
def test_the_folder_of_an_output_must_be_there_before_anything_is_measured(tmp_path, video, option):
    result = evaluate(video, option, tmp_path / "absent" / "x")

    assert result.returncode == 4
    assert result.stderr == (
        f"avatar: error: The folder {tmp_path}/absent of the output does not exist: create it first.\n"
    )
    assert result.stdout == ""


def test_an_output_that_is_a_folder_is_a_wrong_command_line(tmp_path, video):
    result = evaluate(video, "--json", tmp_path)

    assert result.returncode == 2
    assert "is a folder" in result.stderr
