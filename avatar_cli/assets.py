"""Finds the embedded weights and media, in a source tree and in an installed wheel."""

from pathlib import Path

from avatar_cli.protocol.errors import EnvironmentProblem

_PACKAGE = Path(__file__).resolve().parent


def asset_path(name: str) -> Path:
    """Path of an embedded file.

    Args:
        name: Path below the assets folder, with forward slashes, such as `landmarks/face_detector.tflite`.

    Returns:
        The file in `assets/` beside the package (source tree) or in `_assets/` inside it (wheel).

    Raises:
        EnvironmentProblem: Neither place has the file.
    """
    for folder in (_PACKAGE.parent / "assets", _PACKAGE / "_assets"):
        path = folder / name
        if path.exists():
            return path
    raise EnvironmentProblem(f"The embedded file {name} is missing from {_PACKAGE}: install avatar again.")
