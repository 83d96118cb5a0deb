"""Runs the installed `avatar render` command as a user does, and watches it from outside."""

import json
import os
import resource
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from avatar_cli.evaluation.first_bytes import GrowingFile, first_playable
from avatar_cli.evaluation.process_memory import JobMark, PssSamples
from avatar_cli.media.output_path import partial_path
from avatar_cli.protocol.events import now


@dataclass(frozen=True)
class Render:
    """One call of the command."""

    reference: Path
    speech: Path
    output: Path
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rendered:
    """What a finished call left.

    Attributes:
        output: The video.
        report: What `--report` wrote, as JSON data (see `protocol.report.Report`).
        seconds: From before the process was created until it had ended.
        cpu_seconds: Processor time of the command and all processes below it.
    """

    output: Path
    report: dict[str, Any]
    seconds: float
    cpu_seconds: float


def render(job: Render) -> Rendered:
    """Runs the command. Raises RuntimeError with its last words where it fails."""
    return _run(job, dict(os.environ))


def render_watching_first_bytes(job: Render) -> tuple[Rendered, float]:
    """As `render`; also the seconds from process creation to the first bytes of OUT.partial.mp4 that play."""
    partial = partial_path(job.output)
    partial.unlink(missing_ok=True)
    growing = GrowingFile(partial)
    started = now()
    try:
        rendered = _run(job, dict(os.environ))
    finally:
        snapshots = growing.stop()
    moment = first_playable(snapshots)
    if moment is None:
        raise RuntimeError(f"{partial} never held a picture that could be decoded")
    return rendered, moment - started


def render_watching_memory(job: Render) -> tuple[Rendered, list[int]]:
    """As `render`; also the job's PSS in bytes over time, all processes together."""
    mark = JobMark.new()
    samples = PssSamples(mark)
    try:
        rendered = _run(job, mark.environment())
    finally:
        taken = samples.stop()
    return rendered, taken


def _run(job: Render, environment: dict[str, str]) -> Rendered:
    report = job.output.with_suffix(".report.json")
    arguments = [
        str(job.reference),
        str(job.speech),
        "-o",
        str(job.output),
        "--overwrite",
        "--report",
        str(report),
    ]
    command = [_program(), "render", *arguments, *job.options]
    started, cpu = now(), _cpu_of_children()
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    seconds = now() - started
    if done.returncode != 0:
        words = "\n".join(done.stderr.strip().splitlines()[-10:])
        raise RuntimeError(f"{' '.join(command)} ended with status {done.returncode}: {words}")
    report_data = json.loads(report.read_text())
    return Rendered(job.output, report_data, seconds, _cpu_of_children() - cpu)


def _cpu_of_children() -> float:
    """Processor seconds of all processes that have ended and were waited for, theirs included."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _program() -> str:
    """The command beside this interpreter, else on the path."""
    beside = Path(sys.executable).with_name("avatar")
    found = str(beside) if beside.exists() else shutil.which("avatar")
    if found is None:
        raise RuntimeError("the avatar command is not installed: run `make bench`, which installs it")
    return found
