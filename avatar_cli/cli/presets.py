"""Presets: one YAML file a model, with its defaults."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from avatar_cli.cli.prompt import Vocabulary
from avatar_cli.protocol.errors import EnvironmentProblem, UsageError

DEFAULT_PRESET = "portrait"

_PACKAGE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Preset:
    """A model by the name that --model knows."""

    name: str
    family: str
    description: str
    vocabulary: Vocabulary
    preview: dict[str, Any]  # nested settings that --preview puts over the defaults
    defaults: dict[str, Any]  # nested settings, every one of them


def config_folder() -> Path:
    """Where the presets are: `_configs/` inside the package (wheel) or `configs/` beside it (source tree).

    Raises:
        EnvironmentProblem: Neither is there.
    """
    for folder in (_PACKAGE / "_configs", _PACKAGE.parent / "configs"):
        if folder.is_dir():
            return folder
    raise EnvironmentProblem(f"The presets are missing from {_PACKAGE}: install avatar again.")


def preset_names() -> list[str]:
    """Names that --model takes."""
    return sorted(path.stem for path in config_folder().glob("*.yaml"))


def load_preset(name: str) -> Preset:
    """The preset of that name. Raises UsageError for a name that is not one."""
    if name not in preset_names():
        raise UsageError(f"--model {name} is not a model: avatar has {', '.join(preset_names())}.")
    settings = yaml.safe_load((config_folder() / f"{name}.yaml").read_text())
    about = settings.pop("about")
    prompt = about["prompt"]
    return Preset(
        name=name,
        family=about["family"],
        description=about["description"],
        vocabulary=Vocabulary(
            model=name,
            words=tuple(prompt["words"]),
            intensities=prompt["intensities"],
            opposites=tuple((one, other) for one, other in prompt["opposites"]),
        ),
        preview=about["preview"],
        defaults=settings,
    )
