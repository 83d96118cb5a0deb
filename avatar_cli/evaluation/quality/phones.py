"""Times of speech sounds, read from a file."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from avatar_cli.media.input_path import unreadable
from avatar_cli.protocol.errors import InputError

_LATEST = 1e6  # seconds, longer than any recording; frame numbers of later times may overflow


@dataclass(frozen=True)
class Phone:
    """One speech sound by its ARPAbet name, such as `B` or `AE1`; seconds from the start of the sound."""

    name: str
    start: float
    end: float

    @property
    def unit(self) -> str:
        """The name without stress, in capitals."""
        return self.name.upper().rstrip("012")


def read_phones(path: Path) -> list[Phone]:
    """Reads phone times.

    Either JSON: a list of [name, start, end], or an object that holds one under "phones". Or text: a line a
    sound, `start end name`, as label editors write it. Times are seconds.

    Raises:
        InputError: the file cannot be read, is neither, or holds times that cannot be.
    """
    try:
        text = path.read_text(encoding="utf-8")
        return phones_from(json.loads(text)) if text.lstrip()[:1] in "[{" else _from_lines(text)
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            f"{path} holds no phone times ({error}): write lines of `start end name`, in seconds."
        ) from error


def phones_from(data: Any) -> list[Phone]:
    """Phones of decoded JSON in the form of `read_phones`. Raises ValueError, KeyError or TypeError."""
    entries = data["phones"] if isinstance(data, dict) else data
    return [
        _phone(f"phone {number}", [*times, name]) for number, (name, *times) in enumerate(entries, start=1)
    ]


def _from_lines(text: str) -> list[Phone]:
    lines = enumerate(text.splitlines(), start=1)
    return [_phone(f"line {number}", line.split()) for number, line in lines if line.strip()]


def _phone(place: str, fields: Sequence[Any]) -> Phone:
    """Of start, end and name; raises ValueError that says at which place of the file they cannot be."""
    if len(fields) != len(("start", "end", "name")):
        raise ValueError(f"{place}: not `start end name`")
    try:
        start, end = float(fields[0]), float(fields[1])
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"{place}: {error}") from error
    if not 0 <= start <= end <= _LATEST:  # no comparison with nan is true
        raise ValueError(f"{place}: from {fields[0]} to {fields[1]} s")
    return Phone(str(fields[2]), start, end)
