"""MP4 out: frames and sound go into one ffmpeg child, whose file plays while it grows."""

import math
import os
import subprocess
import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from avatar_cli.media.encoder_gate import EncoderGate
from avatar_cli.media.ffmpeg import ChildProcess
from avatar_cli.media.fragment_watch import FragmentWatch
from avatar_cli.media.mp4_command import Pipes, SoundFormat, VideoFormat, mp4_command
from avatar_cli.media.output_path import check_output, partial_path
from avatar_cli.media.partial_file import PartialFile
from avatar_cli.media.pipe_writer import PipeWriter
from avatar_cli.media.shown_length import show_every_frame
from avatar_cli.media.sound_layout import with_positions
from avatar_cli.protocol.errors import AvatarError, EnvironmentProblem, RenderFailure
from avatar_cli.protocol.job import Encoding

__all__ = ["Mp4Writer", "SoundFormat", "VideoFormat", "check_output", "partial_path"]

# ffmpeg takes sound in packets of up to 0.1 s and wants more for AAC's first frames, but takes five frames of
# video before it waits for their sound.
_SOUND_AHEAD = Fraction(1, 5)  # seconds
_FRAMES_BEFORE_SOUND = 5

# From us to the encoder. Of two, ffmpeg keeps one until the next has come.
_FRAMES_ON_THEIR_WAY = 3
_QUEUED = 2
_LAST_WORDS_SECONDS = 5.0  # for a child that closed a pipe to end
_ABANDON_SECONDS = 10.0
_ENVIRONMENT_SIGNS = ("No space left", "quota exceeded", "No such file", "denied", "Read-only file")


class Mp4Writer:
    """Encodes H.264 and AAC into OUT.partial.mp4, which plays at any moment, and moves it over OUT when done.

    ffmpeg ends by itself when this process dies, since both its pipes then close; what was written plays.
    Do not fork after construction: a copy of a pipe's write end would keep ffmpeg waiting.

    Args:
        output: OUT; untouched until `finish`.
        video: Frames that will come.
        sound: Sound that will come.
        encoding: Options of the encoders.
        on_first_bytes: Called once, from another thread, when the partial file first has a part that plays.

    Attributes:
        sound_lead: Frames that the sound must be ahead of the video; 0 at usual rates.

    Raises:
        EnvironmentProblem: from any write or from `finish`: the folder or the space is missing.
        RenderFailure: the same, for any other end of ffmpeg; both in its own words.
    """

    def __init__(
        self,
        output: Path,
        video: VideoFormat,
        sound: SoundFormat,
        encoding: Encoding,
        on_first_bytes: Callable[[], None] | None = None,
    ) -> None:
        self._output = output
        self._partial = partial_path(output)
        self._claim = PartialFile(self._partial)
        self._error: AvatarError | None = None
        self._error_lock = threading.RLock()
        video_read, video_write = os.pipe()
        sound_read, sound_write = os.pipe()
        taken_read, taken_write = os.pipe()
        theirs = Pipes(video_read, sound_read, taken_write)
        try:
            self._child = ChildProcess(
                mp4_command(self._partial, video, sound, encoding, theirs),
                pass_fds=(*theirs, self._claim.fd),
            )
        except BaseException:
            for ours in (video_write, sound_write, taken_read):
                os.close(ours)
            self._claim.release()
            raise
        finally:
            for their in theirs:
                os.close(their)
        self._gate = EncoderGate(taken_read, _FRAMES_ON_THEIR_WAY)
        self._frames = PipeWriter(video_write, "frames-to-ffmpeg", _QUEUED)
        self.sound_lead = max(0, math.ceil(_SOUND_AHEAD * video.fps) - _FRAMES_BEFORE_SOUND)
        self._sound = PipeWriter(sound_write, "sound-to-ffmpeg", _QUEUED + self.sound_lead)
        self._watch = FragmentWatch(self._partial, on_first_bytes or _nothing)

    @property
    def pid(self) -> int:
        """Process id of ffmpeg."""
        return self._child.pid

    def write_frame(self, rgb: npt.NDArray[np.uint8]) -> None:
        """Queue one frame [height, width, 3], which must not change afterwards.

        Blocks while three are on their way to the encoder, in our queue and in ffmpeg's together.
        ffmpeg takes frames only as far as it has their sound: write the sound of this frame and of the next
        `sound_lead` ones first, or where there are no more, `end_sound`.
        """
        self._gate.enter()
        self._put(self._frames, np.ascontiguousarray(rgb))

    def write_sound(self, pcm: npt.NDArray[np.float32]) -> None:
        """Queue sound, float32 [n, channels] in -1..1, which must not change afterwards."""
        if len(pcm):
            self._put(self._sound, np.ascontiguousarray(with_positions(pcm), dtype="<f4"))

    def end_sound(self) -> None:
        """No more sound comes; frames still may."""
        self._sound.end()

    def finish(self) -> Path:
        """Complete the file and move it over OUT; returns OUT. Raises once `abandon` was called."""
        try:
            self._finish()
        finally:
            self._claim.release()
        return self._output

    def _finish(self) -> None:
        self._frames.end()
        self._sound.end()
        self._child.wait()
        self._join()
        complaint = self._child.complaint()
        failed = self._error or self._frames.broken or self._sound.broken or complaint
        self._watch.end(complete=not failed)
        if failed:
            raise self._failure()
        try:
            show_every_frame(self._partial)
            _to_disk(self._partial)
            self._partial.replace(self._output)
            _to_disk(self._output.parent)
        except OSError as error:
            raise EnvironmentProblem(
                f"{self._partial} is complete but cannot be moved to {self._output} ({error.strerror}): "
                "move it by hand."
            ) from error

    def abandon(self) -> Path:
        """Give up: let ffmpeg complete the partial file with what it was given; returns its path."""
        with self._error_lock:
            self._error = self._error or RenderFailure(
                f"The render was given up; {self._partial} has its beginning."
            )
        self._frames.end()
        self._sound.end()
        self._gate.open()
        try:
            self._child.wait(_ABANDON_SECONDS)
        except subprocess.TimeoutExpired:
            self._child.kill()
        self._join()
        self._watch.end(complete=False)
        self._claim.release()
        return self._partial

    def _put(self, pipe: PipeWriter, data: npt.NDArray[Any]) -> None:
        if not pipe.put(data.data.cast("B")):
            raise self._failure()

    def _join(self) -> None:
        self._frames.join()
        self._sound.join()
        self._gate.join()

    def _failure(self) -> AvatarError:
        """Why ffmpeg no longer reads, having waited for its last words."""
        with self._error_lock:
            if self._error is None:
                try:
                    self._child.wait(_LAST_WORDS_SECONDS)
                except subprocess.TimeoutExpired:
                    self._child.kill()
                self._claim.release()
                words = self._child.complaint() or "it ended before all frames had come"
                message = f"ffmpeg stopped while writing {self._partial}: {words}"
                if any(sign in words for sign in _ENVIRONMENT_SIGNS):
                    self._error = EnvironmentProblem(f"{message}; make room there or choose another folder.")
                else:
                    self._error = RenderFailure(f"{message}.")
            return self._error


def _nothing() -> None:
    """Nobody asked for the moment of the first bytes."""


def _to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
