"""Settings from four places: the preset, a file of the user, --preview, and the command line, which wins."""

import difflib
import os
import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import yaml

from avatar_cli.cli.cues import is_cue_file, read_cues
from avatar_cli.cli.presets import DEFAULT_PRESET, Preset, load_preset
from avatar_cli.cli.prompt import parse_prompt
from avatar_cli.cli.request import Request
from avatar_cli.cli.settings import SETTINGS
from avatar_cli.protocol.errors import UsageError
from avatar_cli.protocol.job import Cue

_NULL = "null"  # in an assignment, as YAML writes it
_SHOWN = 40  # characters of a value in a sentence
_LONG_NUMBER = 128  # bits; Python does not write numbers of thousands of digits, and nobody reads them


@dataclass(frozen=True)
class Configuration:
    """The outcome: the preset and the value of every setting.

    `generation.prompt` stands there as cues. `files` are those that settings were read from, `chosen` the
    keys of the settings that the user gave.
    """

    preset: Preset
    values: Mapping[str, Any]
    files: tuple[Path, ...] = ()
    chosen: frozenset[str] = frozenset()

    def __getitem__(self, key: str) -> Any:
        return self.values[key]


class _AliasError(ValueError):
    """A few lines of aliases stand for more values than any memory holds."""


class _Loader(yaml.SafeLoader):
    """Refuses aliases, and a key that comes twice, of which YAML would take the last one without a word."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """The next node. Raises _AliasError."""
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()
            raise _AliasError(f"*{event.anchor} in line {event.start_mark.line + 1}")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """The mapping of a node."""
        keys = [key.value for key, _ in node.value]
        for place, (key, _) in enumerate(node.value):
            if key.value in keys[:place]:
                raise yaml.constructor.ConstructorError(
                    None, None, f"{key.value} comes twice", key.start_mark
                )
        return super().construct_mapping(node, deep)


def configure(request: Request) -> Configuration:
    """Settle every setting; null stands for the preset's own value, whatever came before it.

    Raises:
        UsageError: A key is unknown, or a value cannot be.
        InputError: The prompt is the name of a cue file that cannot be used.
    """
    file = _read_file(request.config) if request.config else {}
    words = dict(_read_assignment(assignment) for assignment in request.assignments)
    flags = dict(_read_flags(request.options))
    chosen = {**file, **words, **flags}
    preset = load_preset(chosen.get("model") or DEFAULT_PRESET)
    source = f"the preset {preset.name}"
    defaults = {"model": preset.name, **_read_tree(preset.defaults, source)}
    preview = _read_tree(preset.preview, source) if request.preview else {}
    asked = {**file, **preview, **words, **flags}
    values = defaults | {key: value for key, value in asked.items() if value is not None}
    if values["chunks.border"] > values["chunks.frames"]:
        raise UsageError(
            f"chunks.border={values['chunks.border']} is more than a chunk has "
            f"(chunks.frames={values['chunks.frames']}): make it smaller."
        )
    prompt = values["generation.prompt"]
    origin = "--prompt" if "generation.prompt" in flags else "generation.prompt"
    values["generation.prompt"] = _read_prompt(prompt, origin, preset)
    cue_file = Path(prompt) if is_cue_file(prompt) else None
    files = tuple(path for path in (request.config, cue_file) if path)
    return Configuration(preset, values, files, frozenset(chosen))


def _read_flags(options: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    for key, setting in SETTINGS.items():
        text = options.get(setting.flag.removeprefix("--")) if setting.flag else None
        if text is not None:
            yield key, _read(key, text, str(setting.flag))


def _read_prompt(text: str, origin: str, preset: Preset) -> tuple[Cue, ...]:
    if is_cue_file(text):
        return read_cues(Path(text), preset.vocabulary)
    try:
        words = parse_prompt(text, preset.vocabulary)
    except ValueError as error:
        if os.path.isfile(text):  # noqa: PTH113 - Path's fails on a text that is too long
            raise UsageError(
                f"{origin} {text} is a file, but one with cues ends in .yaml: rename it."
            ) from error
        raise UsageError(f"{origin}: {error}.") from error
    return (Cue(Fraction(0), words),) if words else ()


def _read_file(path: Path) -> dict[str, Any]:
    try:
        tree = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        raise UsageError(f"--config {path} cannot be read ({error.strerror}): check the name.") from error
    except _AliasError as error:
        raise UsageError(f"--config {path} has an alias ({error}): write out what it stands for.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"--config {path} is not YAML ({reason}): correct it.") from error
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise UsageError(f"--config {path} must hold keys and values, such as `picture: {{size: 1080p}}`.")
    return _read_tree(tree, str(path))


def _read_tree(tree: Mapping[Any, Any], origin: str) -> dict[str, Any]:
    return {
        key: None if value is None else _read(key, value, f"{key} in {origin}")
        for key, value in _flatten(tree, origin)
    }


def _flatten(tree: Mapping[Any, Any], origin: str, prefix: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in tree.items():
        key = f"{prefix}{name}"
        if isinstance(value, dict) and any(known.startswith(f"{key}.") for known in SETTINGS):
            yield from _flatten(value, origin, f"{key}.")
        else:
            yield _known(key, origin), value


def _read_assignment(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"-s {text} has no value: write -s key=value, such as -s encoding.crf=18.")
    key = _known(key.strip(), "-s")
    value = value.strip()
    return key, None if value == _NULL else _read(key, value, f"-s {key}")


def _known(key: str, origin: str) -> str:
    if key in SETTINGS:
        return key
    leaf = key.rpartition(".")[2]
    nearest = max(
        SETTINGS,
        key=lambda known: max(_likeness(key, known), _likeness(leaf, known.rpartition(".")[2])),
    )
    raise UsageError(f"{key} in {origin} is not a setting: did you mean {nearest}?")


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio()


def _read(key: str, value: Any, origin: str) -> Any:
    try:
        return SETTINGS[key].read(value)
    except ValueError as error:
        raise UsageError(f"{origin} {error}, not {_shown(value)}.") from error


def _shown(value: Any) -> str:
    """A value in a sentence: its beginning, found without writing out the whole."""
    if isinstance(value, int) and value.bit_length() > _LONG_NUMBER:
        value = hex(value)
    text = _Short().repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


class _Short(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 2
        self.maxstring = self.maxother = _SHOWN
