"""Runs `avatar render`: from the words of the command line to the exit code."""

import dataclasses
import sys
from contextlib import ExitStack, closing
from pathlib import Path

from avatar_cli.cli.configuration import Configuration, configure
from avatar_cli.cli.inputs import build_job
from avatar_cli.cli.messages import complain, say
from avatar_cli.cli.request import Files, Request, Show, Start
from avatar_cli.launch.display import choose_display
from avatar_cli.launch.ranks import publishes, settle_ranks
from avatar_cli.launch.render import Observation, Rendered, render
from avatar_cli.media.output_path import partial_path
from avatar_cli.media.speech_spool import SpeechSpool, open_spool
from avatar_cli.protocol.errors import AvatarError
from avatar_cli.protocol.events import Failed, now, to_line
from avatar_cli.protocol.exit_codes import ExitCode
from avatar_cli.protocol.job import RenderJob
from avatar_cli.protocol.one_line import one_line

PARENT = -1  # the parent's place where events name a rank

_UNSEEN = Show(json=False, quiet=True, debug=False)  # of several commands only one speaks of the job


def run_render(start: Start, files: Files, request: Request, show: Show) -> int:
    """Check everything, hand the job over, follow it; returns the exit code.

    Raises:
        AvatarError: Something is wrong that could be found before anything was computed, or a speech that
            comes through a pipe cannot be read or kept any longer.
    """
    summary = False
    stage = "validate"
    with ExitStack() as resources:
        try:
            configuration = configure(request)
            spool = open_spool(files.speech)
            if spool:
                resources.enter_context(closing(spool))
            job = settle_ranks(_build_job(files, configuration, spool), start.agent)
            if not publishes(job.compute):
                files, show = dataclasses.replace(files, report=None, trace=None), _UNSEEN
            summary = not (show.quiet or show.json)
            if files.output is None and summary:
                say(f"writing {Path(job.output).name}")
            stage = "render"
            display = choose_display(start.started, quiet=show.quiet, json=show.json)
            observation = Observation(display, start.started, files.report, files.trace, show.debug)
            rendered = render(job, start.agent, observation, spool)
        except AvatarError as error:
            if show.json:
                failed = Failed(int(error.code), error.message, PARENT, stage, "", now(), traceback="")
                print(to_line(failed), flush=True)
            raise
    return _tell_the_end(rendered, Path(job.output), summary, show.debug)


def _build_job(files: Files, configuration: Configuration, spool: SpeechSpool | None) -> RenderJob:
    try:
        return build_job(files, configuration, spool.path if spool else None)
    except AvatarError as error:
        raise (spool.fault if spool else None) or error from error


def _what_is_kept(rendered: Rendered, partial: Path) -> str:
    if rendered.kept is None:
        return f"its beginning is in {partial}"
    if rendered.kept == 0:
        return "nothing was written"
    return f"the first {'frame is' if rendered.kept == 1 else f'{rendered.kept} frames are'} in {partial}"


def _tell_the_end(rendered: Rendered, output: Path, summary: bool, debug: bool) -> int:
    ending = rendered.ending
    if ending.finished is not None:
        if summary:
            ttff = "" if rendered.ttff is None else f", first frame after {rendered.ttff:.2f} s"
            count = "1 frame" if rendered.frames == 1 else f"{rendered.frames} frames"
            speed = "" if rendered.fps is None else f", {rendered.fps:.1f} frames/s"
            length = f"{count}, {ending.finished.duration:.2f} s"
            print(one_line(f"{ending.finished.output}: {length}{ttff}{speed}"), flush=True)
    elif ending.code is ExitCode.DONE:
        pass  # the command of the rank that publishes tells it
    elif ending.code is ExitCode.INTERRUPTED:
        rest = _what_is_kept(rendered, partial_path(output))
        say(f"{ending.message[0].lower()}{ending.message[1:].rstrip('.')}; {rest}.")
    else:
        complain(ending.message)
        if debug:
            print(ending.traceback, file=sys.stderr)
    for fault in rendered.faults:
        complain(fault)
    return ExitCode.ENVIRONMENT if rendered.faults and ending.code is ExitCode.DONE else ending.code
