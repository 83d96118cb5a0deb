"""What a command line asks for, before anything is read or checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from avatar_cli.launch.agent_process import AgentProcess


@dataclass(frozen=True)
class Start:
    """What was there before the command line was read."""

    started: float  # when the command was started, on the events' clock
    agent: AgentProcess


@dataclass(frozen=True)
class Files:
    """The paths, as they were typed."""

    reference: Path
    speech: Path
    output: Path | None = None
    overwrite: bool = False
    report: Path | None = None
    trace: Path | None = None
    frame_hashes: Path | None = None


@dataclass(frozen=True)
class Request:
    """The settings."""

    options: Mapping[str, Any]  # by the option's name; None where it was not given
    assignments: tuple[str, ...] = ()  # key=value
    config: Path | None = None
    preview: bool = False


@dataclass(frozen=True)
class Show:
    """What the user wants to see."""

    json: bool
    quiet: bool
    debug: bool
