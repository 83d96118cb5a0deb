import json
import subprocess
import sys

import pytest

from avatar_cli.assets import asset_path
from avatar_cli.media.ffmpeg import ffmpeg_path


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


def evaluate(*words):
    command = [sys.executable, "-m", "avatar_cli", "evaluate", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_figures_go_to_stdout_as_json_alone_and_to_a_page(video, tmp_path):
    page = tmp_path / "page.html"

    result = evaluate(video, "--json", "-", "--html", page)

    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert result.stderr == ""
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
    report.write_text(json.dumps({"job": {"generation": {"chunk_frames": 20, "interpolated_frames": 0}}}))

    result = evaluate(video, "--report", report, "--json", "-")

    figures = json.loads(result.stdout)["figures"]
    assert figures["mouth_border_position"]["note"].startswith("2 borders")


@pytest.mark.parametrize("option", ["--truth", "--face-model", "--phones", "--report"])
def test_a_file_that_is_not_there_is_bad_input(video, option):
    result = evaluate(video, option, "absent.bin")

    assert result.returncode == 3
    assert result.stderr.splitlines()[-1].startswith("avatar: error: absent.bin cannot be read")


def test_a_file_that_is_no_report_is_bad_input(video, tmp_path):
    path = tmp_path / "report.json"
    path.write_text("{}")

    result = evaluate(video, "--report", path)

    assert result.returncode == 3
    assert "is no report of a render" in result.stderr


def test_a_file_that_is_no_video_is_bad_input(tmp_path):
    path = tmp_path / "me.mp4"
    path.write_text("text")

    result = evaluate(path)

    assert result.returncode == 3
    assert "cannot be read as a video" in result.stderr


def test_a_lag_without_a_recording_is_a_wrong_command_line(video):
    result = evaluate(video, "--lag", "3")

    assert result.returncode == 2
    assert "--truth" in result.stderr
