"""The wheel is the product: it installs alone, and renders from any folder."""

import os
import subprocess
import sys
import zipfile
from fractions import Fraction
from pathlib import Path

import pytest

from avatar_cli.media.probe_mp4 import probe_mp4

ROOT = Path(__file__).parents[1]
CONSTRAINTS = ROOT / ".ci" / "constraints.txt"
LARGEST = 40_000_000  # bytes


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder), str(ROOT)]
    subprocess.run(command, check=True)
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_weights_and_presets_and_stays_small(wheel):
    assert wheel.stat().st_size < LARGEST
    names = zipfile.ZipFile(wheel).namelist()
    for needed in (
        "avatar_cli/_assets/portrait/a2v_dit.safetensors",
        "avatar_cli/_assets/portrait/sr_dit.safetensors",
        "avatar_cli/_assets/landmarks/NOTICE",
        "avatar_cli/_assets/MODEL_CARD.md",
        "avatar_cli/_configs/portrait.yaml",
    ):
        assert needed in names
    assert not [name for name in names if name.startswith("tests/")]


@pytest.mark.timeout(600)
def test_an_empty_environment_renders_from_another_folder(wheel, tmp_path):
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    variables = {**os.environ, "PIP_CONSTRAINT": str(CONSTRAINTS), "PYTHONPATH": ""}
    install = [environment / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", wheel]
    subprocess.run([str(word) for word in install], check=True, env=variables)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assets = next(environment.glob("lib/python*/site-packages/avatar_cli/_assets"))
    inputs = [assets / "demo" / name for name in ("reference.png", "speech.wav")]
    command = [environment / "bin" / "avatar", "render", *inputs, "--preview", "-o", "talk.mp4"]
    done = subprocess.run(
        [str(word) for word in command],
        cwd=elsewhere,
        env=variables,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    video = probe_mp4(elsewhere / "talk.mp4").video
    assert video.end == Fraction(len(video.times), 25)
    assert (video.width, video.height) == (640, 360)
    assert [path.name for path in elsewhere.iterdir()] == ["talk.mp4"]
