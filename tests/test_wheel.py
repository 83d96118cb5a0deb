"""The wheel is the product: it installs alone, and renders from any folder."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterable
from fractions import Fraction
from importlib.metadata import distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from avatar_cli.media.probe_mp4 import probe_mp4

ROOT = Path(__file__).parents[1]
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


def closure(requirements: Iterable[str]) -> set[str]:
    """Names of the packages that these ask for here, and that those ask for, and so on."""
    names: set[str] = set()
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        requirement = waiting.pop()
        extras = ["", *requirement.extras]
        if requirement.marker and not any(requirement.marker.evaluate({"extra": extra}) for extra in extras):
            continue
        if requirement.name not in names:
            names.add(requirement.name)
            waiting += [Requirement(text) for text in distribution(requirement.name).requires or []]
    return names


def install_with_links(wheel: Path, environment: Path) -> None:
    """Installs the wheel and links what it asks for as it is installed here: pip would unpack a gigabyte."""
    pip = [str(environment / "bin" / "pip"), "--quiet", "--disable-pip-version-check"]
    variables = {**os.environ, "PYTHONPATH": ""}
    subprocess.run([*pip, "install", "--no-deps", str(wheel)], check=True, env=variables)
    here = Path(sysconfig.get_path("purelib"))
    (there,) = environment.glob("lib/python*/site-packages")
    (installed,) = distributions(name="avatar-cli", path=[str(there)])
    for name in closure(installed.requires or []):
        for top in {file.parts[0] for file in distribution(name).files or []} - {"..", "__pycache__"}:
            if not (there / top).exists():
                (there / top).symlink_to(here / top)
    subprocess.run([*pip, "check"], check=True, env=variables)


def test_an_environment_of_what_the_wheel_asks_for_renders_from_another_folder(wheel, tmp_path):
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    install_with_links(wheel, environment)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (assets,) = environment.glob("lib/python*/site-packages/avatar_cli/_assets")
    inputs = [assets / "demo" / name for name in ("reference.png", "speech.wav")]
    command = [environment / "bin" / "avatar", "render", *inputs, "--preview", "-o", "talk.mp4"]
    done = subprocess.run(
        [str(word) for word in command],
        cwd=elsewhere,
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    video = probe_mp4(elsewhere / "talk.mp4").video
    assert video.end == Fraction(len(video.times), 25)
    assert (video.width, video.height) == (640, 360)
    assert [path.name for path in elsewhere.iterdir()] == ["talk.mp4"]
