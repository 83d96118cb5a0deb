"""Runs one render from the parent: hand over, watch, report."""

import os
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from avatar_cli.launch.agent_process import AgentProcess
from avatar_cli.launch.display import Display
from avatar_cli.launch.ending import Ending
from avatar_cli.launch.interrupts import Interrupts
from avatar_cli.launch.memory import MemorySampler
from avatar_cli.launch.ranks import own_ranks, publishes
from avatar_cli.launch.report import ReportBuilder
from avatar_cli.launch.spool_watch import SpoolWatch
from avatar_cli.launch.trace import TraceWriter, unwritten
from avatar_cli.launch.watch import Listener, Watch
from avatar_cli.media.leftover import settle_leftover
from avatar_cli.media.output_path import partial_path
from avatar_cli.media.speech_spool import SpeechSpool
from avatar_cli.protocol.events import Interval, now
from avatar_cli.protocol.job import RenderJob

PARENT = -1  # the parent's place where events name a rank


@dataclass(frozen=True)
class Observation:
    """What the user wants to see and keep of a job."""

    display: Display
    started: float  # when the command was started, on the events' clock
    report: Path | None = None
    trace: Path | None = None
    debug: bool = False


@dataclass(frozen=True)
class Rendered:
    """How a job ended, how far it came, and how fast."""

    ending: Ending
    frames: int  # that the encoder was given, as far as was heard
    ttff: float | None  # seconds from the command to the first bytes that play
    fps: float | None  # steady frames/s; None where the video ended within the warm-up
    kept: int | None = 0  # frames in the partial file of a job that ended early; None where nobody can tell
    faults: tuple[str, ...] = ()  # a sentence on each file beside the video that could not be written


def render(
    job: RenderJob, agent: AgentProcess, observation: Observation, spool: SpeechSpool | None = None
) -> Rendered:
    """Hand `job` to the launcher and follow it to its end; no process of the job is left afterwards.

    Files that were asked for are written: the report when the video is done, the trace in any case. A partial
    file without a single frame is removed.

    Args:
        job: Checked.
        agent: The launcher.
        observation: What the user wants to see and keep.
        spool: The speech, where it arrives through a pipe.

    Raises:
        EnvironmentProblem: The trace cannot be opened and nothing was handed over, or the speech that
            arrives cannot be kept.
        InputError: The speech can no longer be read.
    """
    memory = MemorySampler(os.getpid())
    report = ReportBuilder(job, observation.started, memory)
    with closing(observation.display):
        trace = TraceWriter(observation.trace, observation.started, memory) if observation.trace else None
        listeners: list[Listener] = [report, observation.display]
        if observation.report or trace:
            listeners.append(memory)
        if trace:
            listeners.append(trace)
        if spool:
            listeners.append(SpoolWatch(spool))
        try:
            ending = _follow(job, agent, observation, listeners)
        finally:
            if trace:
                trace.close()
            kept = settle_leftover(partial_path(Path(job.output))) if publishes(job.compute) else 0
    faults = [trace.fault] if trace and trace.fault else []
    if ending.finished is None:
        kept = kept if report.began else 0  # else it is that of an earlier render
        return Rendered(ending, report.frames, report.first_bytes, None, kept, tuple(faults))
    if observation.report:
        try:
            observation.report.write_text(report.report(ending.finished).to_json())
        except OSError as error:
            faults.append(unwritten("report", observation.report, error))
    speed = report.speed(ending.finished)
    return Rendered(ending, speed.frames, report.first_bytes, speed.steady_fps, faults=tuple(faults))


def _follow(
    job: RenderJob, agent: AgentProcess, observation: Observation, listeners: list[Listener]
) -> Ending:
    with Interrupts() as interrupts:
        prepared = Interval("command", observation.started, now(), PARENT, "command")
        pipes = agent.hand_over(job.to_json(), own_ranks(job.compute))
        for listener in listeners:
            listener.event(prepared)
        try:
            printed = _to_stderr if observation.debug else _nowhere
            return Watch(agent, pipes, interrupts, listeners, printed).run()
        finally:
            agent.kill()


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _nowhere(line: str) -> None:
    pass
