"""Publishing: every frame goes to the encoder together with its own sound, as soon as it exists."""

import threading
from pathlib import Path

from avatar_cli.media.frame_hashes import FrameHashWriter
from avatar_cli.media.mp4_out import Mp4Writer
from avatar_cli.media.speech_source import SpeechSource
from avatar_cli.protocol.events import EventSink, Instant, Progress, now
from avatar_cli.runtime.stage import Piece
from avatar_cli.stages.values import Frame

PUBLISHING_RANK = 0
PROGRESS_INTERVAL = 0.25  # seconds between two progress events


class Publisher:
    """Takes frames in order, from one thread, and trims what lies past the end of the speech."""

    def __init__(
        self, writer: Mp4Writer, speech: SpeechSource, hashes: FrameHashWriter | None, emit: EventSink
    ) -> None:
        self._writer = writer
        self._speech = speech
        self._hashes = hashes
        self._emit = emit
        self._reported = 0.0
        self._open = True
        self._sounds = 0  # frames whose sound was written
        self.frames = 0

    def __call__(self, piece: Piece[Frame]) -> None:
        """Publish one frame; blocks while the encoder is behind."""
        index = piece.span.start
        if not self._speech.has_frame(index):
            return
        if index == 0:
            self._emit(Instant("first_frame", now(), PUBLISHING_RANK))
        if self._hashes:
            self._hashes.write_frame(piece.value)
        self._write_sound(index + self._writer.sound_lead)
        self._writer.write_frame(piece.value)
        if index == 0:
            self._emit(Instant("first_packet", now(), PUBLISHING_RANK))
        self.frames = index + 1
        if now() - self._reported > PROGRESS_INTERVAL:
            self._report(threading.current_thread().name)

    def finish(self) -> Path:
        """Complete the file and move it into its place."""
        self._report("finish")
        self._open = False
        if self._hashes:
            self._hashes.close()
        return self._writer.finish()

    def abandon(self) -> None:
        """End early: what was written, if anything, stays behind as a playable partial file.

        Does nothing after `finish`.
        """
        if not self._open:
            return
        self._open = False
        if self._hashes:
            self._hashes.close()
        partial = self._writer.abandon()
        if self.frames == 0:
            partial.unlink(missing_ok=True)

    def _write_sound(self, last: int) -> None:
        """Write the sound of all frames up to `last`, so that no frame waits for it in the encoder."""
        while self._sounds <= last:
            if not self._speech.has_frame(self._sounds):
                self._writer.end_sound()
                return
            self._writer.write_sound(self._speech.sound_for_frame(self._sounds))
            self._sounds += 1

    def _report(self, stage: str) -> None:
        self._reported = now()
        total = self._speech.total_frames
        known = total if total is not None else self._speech.estimated_frames
        self._emit(Progress(self.frames, known, self._reported, stage))
