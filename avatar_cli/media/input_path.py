"""Inputs must be files."""

from pathlib import Path

from avatar_cli.protocol.errors import InputError


def check_is_file(path: Path) -> None:
    """Refuse pipes and devices: opening one can wait forever, and inputs are read more than once.

    Raises:
        InputError: it is something else than a file or a folder; of those, opening tells what is wrong.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InputError(f"{path} is not a file but a pipe or a device: save it to a file first.")
