"""Ends a job whose speech can no longer arrive."""

from avatar_cli.media.speech_spool import SpeechSpool
from avatar_cli.protocol.events import Event


class SpoolWatch:
    """A listener that raises the fault of the spool; the ranks would only notice when they get there."""

    def __init__(self, spool: SpeechSpool) -> None:
        self._spool = spool

    def event(self, event: Event) -> None:
        """Nothing to learn from events."""

    def tick(self) -> None:
        """Raises EnvironmentProblem or InputError."""
        if self._spool.fault:
            raise self._spool.fault
