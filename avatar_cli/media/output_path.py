"""Where the video and the files beside it go: checked before anything is computed."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from avatar_cli.protocol.errors import EnvironmentProblem, UsageError


def partial_path(output: Path) -> Path:
    """The file that grows beside OUT.mp4 while it is rendered: OUT.partial.mp4."""
    return output.with_name(f"{output.stem}.partial.mp4")


def check_output(path: Path, overwrite: bool, inputs: Sequence[Path] = ()) -> None:
    """Make sure that the video may be written to `path`.

    Raises:
        UsageError: it exists and `overwrite` is False, is a folder, is one of `inputs`, or is not named .mp4.
        EnvironmentProblem: its folder is missing or cannot be written, or its name is too long.
    """
    try:
        _check(path, overwrite, inputs)
    except OSError as error:
        raise EnvironmentProblem(
            f"The output {path} cannot be written ({error.strerror}): choose another name."
        ) from error


def _check(path: Path, overwrite: bool, inputs: Sequence[Path]) -> None:
    if path.is_dir():
        raise UsageError(f"The output {path} is a folder: give the name of a file.")
    if path.suffix.lower() != ".mp4":
        raise UsageError(f"The output {path} is not named .mp4: avatar writes MP4 files only.")
    for file in (path, partial_path(path)):
        if any(file.exists() and source.exists() and file.samefile(source) for source in inputs):
            raise UsageError(f"{file} is an input and would be overwritten: name the output otherwise.")
    if path.exists() and not overwrite:
        raise UsageError(f"{path} exists: choose another name, or add --overwrite.")
    check_folder(path)


def check_folder(path: Path) -> None:
    """Raises EnvironmentProblem where the folder of an output is missing or cannot be written."""
    folder = path.parent
    if not folder.is_dir():
        raise EnvironmentProblem(f"The folder {folder} of the output does not exist: create it first.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise EnvironmentProblem(f"The folder {folder} of the output cannot be written: choose another one.")


def check_not_taken(path: Path, taken: Iterable[Path]) -> None:
    """Refuse to write over an input or another output, by whatever name: raises UsageError."""
    if any(_same_file(path, other) for other in taken):
        raise UsageError(f"{path} is an input, the video itself or asked for twice: name another file.")


def _same_file(first: Path, second: Path) -> bool:
    """Whether two names, of files that may not be there yet, stand for one file."""
    if os.path.realpath(first) == os.path.realpath(second):  # Path.resolve fails on a loop of links
        return True
    try:
        return first.samefile(second)  # hard links
    except OSError:  # a file that is not there, or not to be seen, is written by no other name
        return False


def check_replaceable(path: Path, taken: Iterable[Path]) -> None:
    """Make sure that an output which replaces what stands there may be written, and costs no file of `taken`.

    Raises:
        UsageError: it is a folder, or one of `taken`.
        EnvironmentProblem: it or its folder cannot be written, or the folder is missing.
    """
    try:
        if path.is_dir():
            raise UsageError(f"The output {path} is a folder: give the name of a file.")
        check_not_taken(path, taken)
        if not path.exists():
            check_folder(path)
        elif not os.access(path, os.W_OK):
            raise EnvironmentProblem(f"The output {path} cannot be written: choose another name.")
    except OSError as error:
        raise EnvironmentProblem(
            f"The output {path} cannot be written ({error.strerror}): choose another name."
        ) from error
