"""Times of speech sounds, read from a file."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from avatar_cli.media.input_path import unreadable
from avatar_cli.protocol.errors import InputError


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
        InputError: the file cannot be read, or is neither.
    """
    try:
        text = path.read_text(encoding="utf-8")
        return phones_from(json.loads(text)) if text.lstrip()[:1] in "[{" else _from_lines(text)
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} holds no phone times ({error}): write lines of `start end name`, in seconds."
        ) from error


def phones_from(data: Any) -> list[Phone]:
    """Phones of decoded JSON in the form of `read_phones`. Raises ValueError, KeyError or TypeError."""
    entries = data["phones"] if isinstance(data, dict) else data
    return [Phone(str(name), float(start), float(end)) for name, start, end in entries]


def _from_lines(text: str) -> list[Phone]:
    rows = [line.split() for line in text.splitlines() if line.strip()]
    return [Phone(name, float(start), float(end)) for start, end, name in rows]
