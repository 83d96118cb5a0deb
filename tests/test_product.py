"""The command as people run it, with the real models and the real ffmpeg."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from PIL import Image

import avatar_cli
from avatar_cli.assets import asset_path
from avatar_cli.cli.presets import load_preset
from avatar_cli.families.portrait.vocabulary import INTENSITIES, OPPOSITES, WORDS
from avatar_cli.media.probe_mp4 import decoding_fault, probe_mp4

REFERENCE = asset_path("demo/reference.png")
SMALL = ("--size", "320x180", "--steps", "2", "-s", "encoding.preset=ultrafast")
GRACE = 10.0  # seconds in which every process of a job must be gone


def command(*words):
    return [sys.executable, "-m", "avatar_cli", "render", *map(str, words)]


def render(*words):
    return subprocess.run(command(*words), capture_output=True, text=True, timeout=120)


def start(*words):
    return subprocess.Popen(command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_partial(output: Path, process):
    partial = output.with_name(f"{output.stem}.partial.mp4")
    deadline = time.monotonic() + 60
    while not partial.exists() or partial.stat().st_size < 100_000:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return partial


def assert_nothing_is_left(family):
    _, alive = psutil.wait_procs(family, GRACE)
    left = [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]
    assert not left


def test_a_cue_leaves_the_chunks_before_it_as_they_are(speech, tmp_path):
    cues = tmp_path / "cues.yaml"
    cues.write_text("0:04.8: very smiling, looking left\n1:00: sad\n")
    frames = {}
    for name, prompt in (("plain", ""), ("cued", cues)):
        hashes = tmp_path / name
        done = render(
            *(REFERENCE, speech(7), "-o", tmp_path / f"{name}.mp4", *SMALL),
            *("--prompt", prompt, "--frame-hashes", hashes),
        )
        assert done.returncode == 0, done.stderr
        warning, first_frame = map(
            done.stderr.find, ("The cue at 60 s lies after the end", "first frame after")
        )
        assert (warning >= 0) == (name == "cued")
        assert warning < first_frame  # of a file it is known at once
        frames[name] = hashes.read_text().splitlines()
    # 120 lies in the third N chunk, of frames 116 to 163; the I chunk before it begins at 106.
    assert frames["plain"][:106] == frames["cued"][:106]
    assert all(plain != cued for plain, cued in zip(frames["plain"][125:], frames["cued"][125:], strict=True))


def test_one_and_two_ranks_give_the_same_frames(speech, tmp_path):
    hashes = {}
    for ranks in (1, 2):
        path = tmp_path / f"hashes-{ranks}"
        done = render(
            *(REFERENCE, speech(4.0), "-o", tmp_path / f"{ranks}.mp4", *SMALL),
            *("--nproc", ranks, "--threads", 1, "--frame-hashes", path),
        )
        assert done.returncode == 0, done.stderr
        hashes[ranks] = path.read_text().splitlines()
    assert len(hashes[1]) == 100
    assert len(set(hashes[1])) > 90
    assert hashes[1] == hashes[2]


def test_a_killed_ffmpeg_is_reported_and_nothing_is_left(speech, tmp_path):
    output = tmp_path / "out.mp4"
    output.write_bytes(b"an older video")
    process = start(REFERENCE, speech(120.0), "-o", output, *SMALL, "--overwrite")
    wait_for_partial(output, process)
    family = psutil.Process(process.pid).children(recursive=True)
    encoders = [child for child in family if any("libx264" in word for word in child.cmdline())]
    assert len(encoders) == 1
    encoders[0].send_signal(signal.SIGKILL)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 5
    assert "ffmpeg" in errors
    assert "SIGKILL" in errors
    assert "Traceback" not in errors
    assert_nothing_is_left(family)
    assert output.read_bytes() == b"an older video"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_render_leaves_a_file_that_plays(number, speech, tmp_path):
    output = tmp_path / "out.mp4"
    process = start(REFERENCE, speech(120.0), "-o", output, *SMALL)
    partial = wait_for_partial(output, process)
    family = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert partial.name in errors
    assert_nothing_is_left(family)
    assert not output.exists()
    assert decoding_fault(partial) is None
    assert len(probe_mp4(partial).video.times) > 25


def test_a_killed_rank_leaves_a_file_that_plays_and_no_process(speech, tmp_path):
    output, report = tmp_path / "out.mp4", tmp_path / "events"
    with report.open("w") as events:
        process = subprocess.Popen(
            command(REFERENCE, speech(120.0), "-o", output, *SMALL, "--json"),
            stdout=events,
            stderr=subprocess.PIPE,
            text=True,
        )
        partial = wait_for_partial(output, process)
        family = psutil.Process(process.pid).children(recursive=True)
        started = [json.loads(line) for line in report.read_text().splitlines() if "rank_started" in line]
        os.kill(started[0]["pid"], signal.SIGKILL)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 5
    assert "Rank 0" in errors
    assert "SIGKILL" in errors
    assert_nothing_is_left(family)
    assert decoding_fault(partial) is None


def test_a_picture_without_a_face_is_refused_by_name(speech, tmp_path):
    noise = np.random.default_rng(0).integers(0, 255, (240, 320, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "no face.png")
    done = render(tmp_path / "no face.png", speech(1.0), "-o", tmp_path / "out.mp4", *SMALL)
    assert done.returncode == 3
    assert "no face.png" in done.stderr
    errors = [line for line in done.stderr.splitlines() if "error" in line]
    assert len(errors) == 1
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("*.mp4"))


def test_weights_of_another_network_are_told_with_their_file(speech, tmp_path):
    package = Path(avatar_cli.__file__).parent
    shutil.copytree(package, tmp_path / "avatar_cli")
    shutil.copytree(package.parent / "configs", tmp_path / "configs")
    weights = shutil.copytree(package.parent / "assets", tmp_path / "assets") / "portrait"
    shutil.copy(weights / "sr_dit.safetensors", weights / "a2v_dit.safetensors")
    done = subprocess.run(
        command(REFERENCE, speech(1.0), "-o", tmp_path / "out.mp4", *SMALL),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 4
    assert "a2v_dit.safetensors holds the weights of another network" in done.stderr
    assert not list(tmp_path.glob("*.mp4"))


def test_the_preset_lists_the_words_that_the_text_encoder_knows():
    vocabulary = load_preset("portrait").vocabulary
    assert vocabulary.words == WORDS
    assert vocabulary.intensities == INTENSITIES
    assert vocabulary.opposites == OPPOSITES
