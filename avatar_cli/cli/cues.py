"""Cue files: a YAML mapping from times to the words of a prompt."""

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import yaml

from avatar_cli.cli.prompt import Vocabulary, parse_prompt
from avatar_cli.media.input_path import check_is_file, unreadable
from avatar_cli.protocol.errors import InputError
from avatar_cli.protocol.job import Cue

LARGEST_FILE = 1 << 18  # bytes: thousands of cues

_SUFFIXES = (".yaml", ".yml")
_EXAMPLE = "0:12.5: very smiling, nodding"
_TIME = re.compile(r"(?:(?:([0-9]{1,4}):)?([0-9]{1,4}):)?([0-9]{1,6}(?:\.[0-9]{1,9})?)")
_NULL = "tag:yaml.org,2002:null"


def is_cue_file(prompt: str) -> bool:
    """Whether a prompt is the name of a cue file: no word of a vocabulary ends like one."""
    return prompt.lower().endswith(_SUFFIXES)


def read_cues(path: Path, vocabulary: Vocabulary) -> tuple[Cue, ...]:
    """The cues of a file, in order of time. Raises InputError with the line in which something is wrong."""
    cues: list[Cue] = []
    places: dict[Fraction, int] = {}
    for line, time, text in _entries(path):
        try:
            cue = Cue(_parse_time(time), parse_prompt(text, vocabulary))
            if cue.at in places:
                raise ValueError(f"{time} comes twice, first in line {places[cue.at]}: keep one of them")
            if cues and cue.at < cues[-1].at:
                raise ValueError(f"{time} lies before the cue above it: put the cues in order of time")
        except ValueError as error:
            raise InputError(f"{path}, line {line}: {error}.") from error
        places[cue.at] = line
        cues.append(cue)
    return tuple(cues)


def _parse_time(text: str) -> Fraction:
    """Seconds of `12.5`, `0:12.5` or `1:02:03`, exactly."""
    match = _TIME.fullmatch(text)
    hours, minutes, seconds = match.groups() if match else (None, None, "")
    if match is None or (minutes and Fraction(seconds) >= 60) or (hours and int(minutes or 0) >= 60):
        raise ValueError(f"{text!r} is not a time: write seconds such as 12.5, or 0:12.5, or 1:02:03")
    return Fraction(seconds) + 60 * int(minutes or 0) + 3600 * int(hours or 0)


def _entries(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line, time and words of every entry, as they are written: YAML itself would make 72 of 1:12."""
    root = _compose(path)
    if root is None or root.value == []:
        raise InputError(f"{path} holds no cues: write lines such as `{_EXAMPLE}`.")
    if not isinstance(root, yaml.MappingNode):
        raise _no_entry(path, root)
    for time, words in root.value:
        if not isinstance(time, yaml.ScalarNode):
            raise _no_entry(path, time)
        yield time.start_mark.line + 1, time.value, ", ".join(_texts(path, words))


def _texts(path: Path, words: yaml.Node) -> Iterator[str]:
    """What is said by one text, by a list of texts, or by nothing at all."""
    for node in words.value if isinstance(words, yaml.SequenceNode) else [words]:
        if not isinstance(node, yaml.ScalarNode):
            raise _no_entry(path, node)
        yield "" if node.tag == _NULL else node.value


def _compose(path: Path) -> yaml.Node | None:
    try:
        node: yaml.Node | None = yaml.compose(_read(path), yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark else ""
        raise InputError(f"{path}{line}: YAML {error.problem}; a line is such as `{_EXAMPLE}`.") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"{path} is not YAML: write lines such as `{_EXAMPLE}`.") from error
    return node


def _read(path: Path) -> str:
    try:
        check_is_file(path)
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(content) > LARGEST_FILE:
        raise InputError(f"{path} is larger than {LARGEST_FILE >> 10} KiB: name a file that holds cues only.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not text in UTF-8: save it as that.") from error


def _no_entry(path: Path, node: yaml.Node) -> InputError:
    return InputError(
        f"{path}, line {node.start_mark.line + 1}: this is no cue: write a time, a colon, a space and words, "
        f"such as `{_EXAMPLE}`."
    )
