"""What the user sees while a job runs: a progress bar, plain lines, JSON lines, or nothing."""

import os
import sys
from typing import TYPE_CHECKING, Protocol, TextIO

from avatar_cli.launch.pace import Pace
from avatar_cli.protocol.errors import EnvironmentProblem, Interrupted
from avatar_cli.protocol.events import (
    Event,
    Instant,
    Progress,
    RankStarted,
    ReferenceWatched,
    Warned,
    now,
    to_line,
)
from avatar_cli.protocol.one_line import one_line

if TYPE_CHECKING:
    from rich.progress import TaskID

PLAIN_PERIOD = 3.0  # seconds between two plain lines


class Display(Protocol):
    """A listener that shows something; `close` leaves the terminal in order."""

    def event(self, event: Event) -> None:
        """Take one event."""

    def tick(self) -> None:
        """Refresh."""

    def close(self) -> None:
        """The job is over."""


class _Once:
    """Lets each warning pass once."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def __call__(self, message: str) -> bool:
        new = message not in self._seen
        self._seen.add(message)
        return new


class Silence:
    """--quiet: errors only, and those are not the display's business."""

    def event(self, event: Event) -> None:
        """Show nothing."""

    def tick(self) -> None:
        """Show nothing."""

    def close(self) -> None:
        """Nothing to put in order."""


class JsonLines(Silence):
    """--json: every event as one line on stdout."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def event(self, event: Event) -> None:
        """Write the event as it came. Raises Interrupted when nobody reads any more, EnvironmentProblem."""
        try:
            print(to_line(event), file=self._stream, flush=True)
        except BrokenPipeError as error:
            # what is left in the buffer must not be written, and fail, once more at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            raise Interrupted("interrupted; the reader of the events has left.") from error
        except OSError as error:
            raise EnvironmentProblem(f"Events cannot be written to stdout ({error.strerror}).") from error


class PlainLines:
    """For logs: a line every few seconds."""

    def __init__(self, started: float, stream: TextIO) -> None:
        self._started = started
        self._stream = stream
        self._new_warning = _Once()
        self._pace = Pace()
        self._stage = "starting"
        self._next = started + PLAIN_PERIOD
        self._said = ""

    def event(self, event: Event) -> None:
        """Remember how far the job is; tell when the first frame can be played."""
        match event:
            case Progress():
                self._pace.add(event)
                self._stage = event.stage
            case RankStarted():
                self._stage = "loading"
            case Instant(name="first_bytes"):
                self._say(f"first frame after {event.time - self._started:.1f} s")
            case ReferenceWatched():
                self._say(watched(event))
            case Warned(message) if self._new_warning(message):
                self._say(f"warning: {message}")

    def tick(self) -> None:
        """Say where the job is, now and then, unless nothing has changed."""
        if now() < self._next:
            return
        self._next = now() + PLAIN_PERIOD
        pace = self._pace
        parts = [f"frame {pace.frames}/{'?' if pace.total is None else pace.total}"]
        if pace.fps is not None:
            parts.append(f"{pace.fps:.1f} frames/s")
        if pace.remaining is not None:
            parts.append(f"{_clock(pace.remaining)} left")
        place = ", ".join([*parts, self._stage])
        if place != self._said:
            self._say(place)
            self._said = place

    def close(self) -> None:
        """Nothing to put in order."""

    def _say(self, text: str) -> None:
        print(f"avatar: {one_line(text)}", file=self._stream, flush=True)


class ProgressBar:
    """For terminals: one line that stays in place."""

    def __init__(self, started: float, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._started = started
        self._pace = Pace()
        self._first_frame = ""
        self._bar: RichProgress = RichProgress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            console=Console(file=stream),
            auto_refresh=False,  # the event loop does it; the parent needs no second thread
            transient=True,
        )
        self._task: TaskID = self._bar.add_task("starting", total=None, rate="")
        self._new_warning = _Once()
        self._bar.start()

    def event(self, event: Event) -> None:
        """Move the bar."""
        match event:
            case Progress():
                self._pace.add(event)
                self._bar.update(
                    self._task,
                    completed=event.frames,
                    total=event.total,
                    description=event.stage,
                    rate=self._rate(),
                )
            case RankStarted():
                self._bar.update(self._task, description="loading")
            case Instant(name="first_bytes"):
                self._first_frame = f"first frame {event.time - self._started:.1f} s"
            case ReferenceWatched():
                self._say(watched(event))
            case Warned(message) if self._new_warning(message):
                self._say(f"warning: {message}")

    def tick(self) -> None:
        """Draw."""
        self._bar.refresh()

    def close(self) -> None:
        """Take the bar away and give the cursor back."""
        self._bar.stop()

    def _say(self, text: str) -> None:
        self._bar.console.print(f"avatar: {one_line(text)}", highlight=False, markup=False)

    def _rate(self) -> str:
        pace = self._pace
        parts = [
            f"{pace.fps:.1f} frames/s" if pace.fps is not None else "",
            f"ETA {_clock(pace.remaining)}" if pace.remaining is not None else "",
            self._first_frame,
        ]
        return "  ".join(part for part in parts if part)


def watched(event: ReferenceWatched) -> str:
    """What a reference video showed, in a line."""
    sights = [
        "an open mouth" if event.open_mouth else "no open mouth",
        "closed lids" if event.closed_eyes else "no closed lids",
    ]
    return (
        f"reference: {event.usable} of {event.frames} frames used, rendering from {event.seconds:.2f} s; "
        f"{' and '.join(sights)} seen"
    )


def choose_display(started: float, quiet: bool, json: bool) -> Display:
    """The display for this terminal and these options."""
    if json:
        return JsonLines(sys.stdout)
    if quiet:
        return Silence()
    return ProgressBar(started, sys.stderr) if sys.stderr.isatty() else PlainLines(started, sys.stderr)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
