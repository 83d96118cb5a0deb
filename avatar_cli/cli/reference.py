"""Writes docs/cli.md from the same words as --help: `python -m avatar_cli.cli.reference docs/cli.md`."""

import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from avatar_cli.cli.app import PROGRAM, build_app

HEADER = "<!-- Written by `make docs` from the words of `--help`; a test compares them. -->"


def reference() -> str:
    """The page as Markdown."""
    group: Any = typer.main.get_command(build_app())
    parts = [f"# The command line\n\n{HEADER}", _describe(PROGRAM, group)]
    parts += [_describe(path, command) for path, command in _commands(PROGRAM, group)]
    return "\n\n".join(parts) + "\n"


def _commands(path: str, group: Any) -> Iterator[tuple[str, Any]]:
    """The commands of a group, each followed by those below it."""
    for name, command in group.commands.items():
        yield f"{path} {name}", command
        yield from _commands(f"{path} {name}", command) if hasattr(command, "commands") else ()


def _describe(path: str, command: Any) -> str:
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = [param for param in command.params if param.param_type_name == "option"]
    usage = " ".join([path, *(param.metavar for param in arguments), "[OPTIONS]" if options else ""]).strip()
    parts = [f"## `{usage}`", command.help]
    if arguments:
        parts.append(_table([(param.metavar, param.help) for param in arguments]))
    for panel, members in groupby(options, key=lambda param: param.rich_help_panel):
        rows = [(_spelling(param), param.help) for param in members]
        parts.append((f"### {panel}\n\n" if panel else "") + _table(rows))
    if command.epilog:
        parts.append(_plain(command.epilog))
    return "\n\n".join(parts)


def _spelling(option: Any) -> str:
    names = ", ".join(option.opts)
    return names if option.is_flag else f"{names} {option.metavar}"


def _table(rows: list[tuple[str, str]]) -> str:
    lines = [f"| `{name.replace('|', chr(92) + '|')}` | {_plain(words)} |" for name, words in rows]
    return "\n".join(["| | |", "|---|---|", *lines])


def _plain(words: str) -> str:
    """Without the terminal's markup; indented lines become code."""
    lines = Text.from_markup(words).plain.splitlines()
    return "\n".join(f"    {line.strip()}" if line.startswith("  ") else line for line in lines)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference())
