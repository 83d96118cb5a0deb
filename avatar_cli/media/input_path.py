"""What kind of thing an input is: a file, or something that can be read once and in order."""

import stat
from pathlib import Path

from avatar_cli.protocol.errors import InputError

STDIN = Path("-")


def is_stream(path: Path) -> bool:
    """Whether it is standard input, a pipe, a socket or a character device."""
    if path == STDIN:
        return True
    try:
        mode = path.stat().st_mode
    except OSError:  # opening it tells what is wrong
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def spoken_name(path: Path) -> str:
    """The input in a sentence for the user."""
    return "stdin" if path == STDIN else str(path)


def unreadable(name: str | Path, error: OSError) -> InputError:
    """What to raise for an input that the system does not let us read."""
    return InputError(f"{name} cannot be read ({error.strerror}): check the name.")


def check_is_file(path: Path) -> None:
    """Refuse pipes and devices: opening one can wait forever, and inputs are read more than once.

    Raises:
        InputError: it is something else than a file or a folder; of those, opening tells what is wrong.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InputError(f"{path} is not a file but a pipe or a device: save it to a file first.")
