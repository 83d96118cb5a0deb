"""Follows one job from hand-over to the end of its last process."""

import os
import selectors
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from avatar_cli.launch.agent_process import AgentProcess
from avatar_cli.launch.ending import Ending, Evidence, conclude
from avatar_cli.launch.interrupts import Interrupts
from avatar_cli.launch.ranks import PUBLISHING_RANK
from avatar_cli.launch.ranks_seen import RanksSeen
from avatar_cli.protocol.events import Event, Failed, Finished, Memory, from_line, now

TICK = 0.1  # seconds between two refreshes of the display
BLAME_TIME = 2.0  # seconds after the first bad news in which the launcher may name a dead rank
KILL_TIME = 5.0  # seconds after the first bad news until everything is killed
STOP_TIME = 6.0  # seconds between asking for the end and enforcing it; more than the launcher gives the ranks
TEARDOWN_TIME = 0.5  # seconds the launcher has to leave once all ranks are gone

_READ_SIZE = 1 << 16


class Listener(Protocol):
    """Wants to know what happens while it happens."""

    def event(self, event: Event) -> None:
        """Called for each event in the order of arrival."""

    def tick(self) -> None:
        """Called a few times a second."""


class Watch:
    """The parent's event loop: events in, listeners out, signals and deadlines between them."""

    def __init__(
        self,
        agent: AgentProcess,
        pipes: Mapping[int, int],
        interrupts: Interrupts,
        listeners: Iterable[Listener],
        printed: Callable[[str], None],
    ) -> None:
        """Prepare.

        Args:
            agent: The launcher, which has been handed the job.
            pipes: Read ends of the ranks' event pipes, by rank.
            interrupts: Open, so that signals arrive here.
            listeners: Who is told about events.
            printed: Takes each line that the launcher or a rank printed.
        """
        self._agent = agent
        self._interrupts = interrupts
        self._listeners = tuple(listeners)
        self._evidence = Evidence(publishes=PUBLISHING_RANK in pipes)
        self._events = {rank: _Lines(fd) for rank, fd in pipes.items()}
        self._output = _Lines(agent.output)
        self._printed = printed
        self._launcher_there = True
        self._seen = RanksSeen()
        self._left: set[int] = set()  # ranks that had their last word
        self._stop_at = float("inf")
        self._kill_at = float("inf")
        self._asked = False  # to end
        self._killed = False
        self._selector = selectors.DefaultSelector()
        self._selector.register(agent.socket, selectors.EVENT_READ, self._hear_launcher)
        self._selector.register(agent.output, selectors.EVENT_READ, self._keep_output)
        self._selector.register(interrupts.fd, selectors.EVENT_READ, self._interrupt)
        for rank, lines in self._events.items():
            self._selector.register(lines.fd, selectors.EVENT_READ, lambda rank=rank: self._hear_rank(rank))

    def run(self) -> Ending:
        """Return when launcher and ranks are gone."""
        while self._agent.received_early():
            self._hear_launcher()
        with self._selector:
            while self._launcher_there or self._events:
                for key, _ in self._selector.select(TICK):
                    key.data()
                for listener in self._listeners:
                    listener.tick()
                self._look_for_stopped_ranks()
                self._keep_deadlines()
        self._agent.process.wait()
        self._keep_output()
        if not self._killed:
            self._evidence.launcher_status = self._agent.process.returncode
        self._evidence.silences = self._seen.silences()
        return conclude(self._evidence)

    def _hear_launcher(self) -> None:
        event = self._agent.receive()
        if event is not None:
            if isinstance(event, Failed):
                self._hear_rank(event.rank)  # its last words tell where it was
                event = self._seen.placed(event)
                self._evidence.deaths.append(event)
                self._bad_news()
            self._tell(event)
            return
        self._launcher_there = False
        self._selector.unregister(self._agent.socket)
        self._kill_at = min(self._kill_at, now() + STOP_TIME)  # the ranks' lifelines have closed

    def _hear_rank(self, rank: int) -> None:
        lines = self._events.get(rank)
        if lines is None:
            return
        for line in lines.read():
            event = from_line(line)
            if isinstance(event, Failed):
                event = self._seen.placed(event) if event.about_peers else event
                self._evidence.errors.append(event)
                self._bad_news()
            elif isinstance(event, Finished):
                self._evidence.finished = event
                self._kill_at = min(self._kill_at, now() + STOP_TIME)  # for a rank that hangs in its teardown
            # The rank that publishes says Finished last; the others end with their memory peaks.
            if isinstance(event, (Failed, Finished if rank == PUBLISHING_RANK else Memory)):
                self._left.add(rank)
            self._tell(event)
        if lines.ended:
            self._selector.unregister(lines.fd)
            os.close(lines.fd)
            del self._events[rank]
            if rank not in self._left and not self._asked:
                self._evidence.vanished.add(rank)
                self._bad_news()
            if not self._events:
                self._kill_at = min(self._kill_at, now() + self._time_to_leave())

    def _time_to_leave(self) -> float:
        """A launcher whose ranks are all gone has nothing left to say, unless one vanished."""
        return BLAME_TIME if self._evidence.vanished else TEARDOWN_TIME

    def _tell(self, event: Event) -> None:
        self._seen.event(event)
        for listener in self._listeners:
            listener.event(event)

    def _bad_news(self) -> None:
        self._stop_at = min(self._stop_at, now() + BLAME_TIME)
        self._kill_at = min(self._kill_at, now() + KILL_TIME)

    def _look_for_stopped_ranks(self) -> None:
        for failure in self._seen.stopped():
            if failure.rank not in self._evidence.stopped:
                self._evidence.stopped[failure.rank] = failure
                self._bad_news()
                self._stop_at = min(self._stop_at, now())  # there is nobody else to blame
                self._tell(failure)

    def _interrupt(self) -> None:
        for _ in range(self._interrupts.take()):
            if self._evidence.interrupted or not self._seen.any:
                self._kill()  # the second time, or before there was anything to bring in order
            else:
                self._stop_at = now()
            self._evidence.interrupted = True

    def _keep_deadlines(self) -> None:
        moment = now()
        if moment >= self._stop_at:
            self._stop_at = float("inf")
            self._kill_at = min(self._kill_at, moment + STOP_TIME)
            if self._launcher_there and not self._asked:
                self._agent.stop()
            self._asked = True
        if moment >= self._kill_at:
            self._kill()

    def _kill(self) -> None:
        self._killed = self._killed or self._agent.process.poll() is None
        self._kill_at = float("inf")
        self._agent.kill()

    def _keep_output(self) -> None:
        for line in self._output.read():
            self._printed(line)
        if self._output.ended and self._selector.get_map() is not None:
            self._selector.unregister(self._output.fd)


class _Lines:
    """Complete lines from a descriptor that is never waited for."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        self.ended = False
        self._rest = b""

    def read(self) -> list[str]:
        """The lines that are complete by now; after the end, also a last one without a newline."""
        try:
            data = os.read(self.fd, _READ_SIZE)
        except BlockingIOError:
            return []
        *lines, self._rest = (self._rest + data).split(b"\n")
        if not data:
            self.ended = True
        return [line.decode(errors="replace") for line in lines]
