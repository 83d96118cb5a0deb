"""`avatar render`: one reference, one speech, one video."""

import sys
from dataclasses import dataclass
from pathlib import Path

import typer

from avatar_cli.cli import options
from avatar_cli.cli.configuration import Request, configure
from avatar_cli.cli.inputs import Files, build_job
from avatar_cli.cli.messages import complain, say
from avatar_cli.cli.settings import SETTINGS
from avatar_cli.launch.agent_process import AgentProcess
from avatar_cli.launch.display import choose_display
from avatar_cli.launch.render import Observation, Rendered
from avatar_cli.launch.render import render as run_job
from avatar_cli.media.output_path import partial_path
from avatar_cli.protocol.errors import AvatarError
from avatar_cli.protocol.events import Failed, now, to_line
from avatar_cli.protocol.exit_codes import ExitCode

EPILOG = """
[bold]Examples[/bold]

  avatar render me.jpg speech.wav -o me.mp4

  avatar render me.png talk.mp3 --size 1080p --fps 30 --prompt smiling

  avatar render me.png talk.flac -o talk.mp4 --preview --overwrite

  avatar render me.png talk.wav --config studio.yaml -s encoding.crf=18 --report talk.json


[bold]While it renders[/bold], OUT.partial.mp4 grows beside OUT.mp4 and can be played at any moment. It is moved to
OUT.mp4 when it is complete; an existing OUT.mp4 is untouched until then. Ctrl-C leaves the partial file
playable; a second Ctrl-C ends everything at once.


[bold]Exit codes[/bold]: 0 done, 2 usage, 3 bad input, 4 environment, 5 failed while running, 130 interrupted.
"""


@dataclass(frozen=True)
class Start:
    """What was there before the command line was read."""

    started: float  # when the command was started, on the events' clock
    agent: AgentProcess


def render(
    context: typer.Context,
    reference: options.Reference,
    speech: options.Speech,
    output: options.Output = None,
    overwrite: options.Overwrite = False,
    config: options.Config = None,
    assignments: options.Assignments = None,
    size: options.Size = None,
    fit: options.FitOption = None,
    fps: options.Fps = None,
    background: options.Background = None,
    model: options.Model = None,
    prompt: options.Prompt = None,
    seed: options.Seed = None,
    steps: options.Steps = None,
    preview: options.Preview = False,
    mode: options.ModeOption = None,
    nproc: options.Nproc = None,
    threads: options.Threads = None,
    report: options.ReportFile = None,
    trace: options.TraceFile = None,
    frame_hashes: options.FrameHashes = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> int:
    """Turn a photo and a recording of speech into a video of that person speaking."""
    given = context.params
    flags = {
        key: given[name]
        for key, setting in SETTINGS.items()
        if setting.flag and given[name := setting.flag.removeprefix("--")] is not None
    }
    files = Files(reference, speech, output, overwrite, report, trace, frame_hashes)
    try:
        job = build_job(files, configure(Request(flags, tuple(assignments or ()), config, preview)))
    except AvatarError as error:
        if json:
            failed = Failed(int(error.code), error.message, -1, "validate", "", now(), traceback="")
            print(to_line(failed), flush=True)
        raise
    if output is None and not (quiet or json):
        say(f"writing {Path(job.output).name}")
    start: Start = context.obj
    display = choose_display(start.started, quiet=quiet, json=json)
    rendered = run_job(job, start.agent, Observation(display, start.started, report, trace, debug))
    return _tell_the_end(rendered, Path(job.output), summary=not (quiet or json), debug=debug)


def _tell_the_end(rendered: Rendered, output: Path, summary: bool, debug: bool) -> int:
    ending = rendered.ending
    if ending.finished is not None:
        if summary:
            ttff = "" if rendered.ttff is None else f", first frame after {rendered.ttff:.2f} s"
            length = f"{rendered.frames} frames, {ending.finished.duration:.2f} s"
            print(f"{ending.finished.output}: {length}{ttff}, {rendered.fps:.1f} frames/s")
    elif ending.code is ExitCode.INTERRUPTED:
        partial = partial_path(output)
        kept = rendered.frames and partial.exists()
        rest = f"the first {rendered.frames} frames are in {partial}" if kept else "nothing was written"
        say(f"{ending.message.rstrip('.').lower()}; {rest}.")
    else:
        complain(ending.message)
        if debug:
            print(ending.traceback, file=sys.stderr)
    return ending.code
