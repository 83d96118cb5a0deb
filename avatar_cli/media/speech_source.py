"""One decode of the speech for two readers: 16 kHz mono for models, the user's own sound for the video."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soxr

from avatar_cli.media.sound_layout import mixdown_note
from avatar_cli.media.sound_mix import MonoMix
from avatar_cli.media.speech_in import SpeechDecoder, SpeechInfo
from avatar_cli.protocol.timing import MODEL_RATE, frame_edge, frames_for

Samples = npt.NDArray[np.float32]


class SpeechSource:
    """Decodes as far as it is asked to and keeps what its readers have not taken yet.

    One thread may read for the models while another takes the sound of finished frames. What is kept is what
    lies between the earliest need of the two and the furthest request, whatever the length of the recording.

    Args:
        path: Anything that ffmpeg reads.
        fps: Frames of the video a second.
        keep_sound: Whether `sound_for_frame` will be asked; without it no sound is kept.
        spool: Where the recording is kept if it arrives through a pipe; readers wait for what is to come.

    Raises:
        AvatarError: as SpeechDecoder, also from later calls.
    """

    def __init__(
        self, path: Path, fps: Fraction, *, keep_sound: bool = True, spool: Path | None = None
    ) -> None:
        self._fps = fps
        self._keep_sound = keep_sound
        self._decoder = SpeechDecoder(path, spool)
        self._blocks: Iterator[Samples] = self._decoder.blocks()
        self._mix = MonoMix(self.info.rate, self.info.channels, self.info.positions)
        self._resampler = soxr.ResampleStream(self.info.rate, MODEL_RATE, 1, dtype="float32")
        self._decoding = threading.Lock()  # held while waiting for sound
        self._lock = threading.Lock()  # of what follows; never held for long
        self._decoded = 0
        self._ended = False
        self._model = _Shelf(np.zeros(0, np.float32))
        self._sound = _Shelf(np.zeros((0, self.info.channels), np.float32))
        self._next_frame = 0

    @property
    def info(self) -> SpeechInfo:
        """What the file says of itself."""
        return self._decoder.info

    @property
    def warnings(self) -> list[str]:
        """Sentences for the user; complete once the end has been read."""
        note = mixdown_note(self.info.channels)
        return [*([note] if note else []), *self._decoder.warnings]

    @property
    def total_frames(self) -> int | None:
        """Frames of the video, from the count of decoded samples; None until the end has been read."""
        with self._lock:
            return frames_for(self._decoded, self.info.rate, self._fps) if self._ended else None

    @property
    def estimated_frames(self) -> int | None:
        """The true count once it is known, else what the file's header lets expect, if it says anything."""
        total = self.total_frames
        if total is None and self.info.seconds is not None:
            return frames_for(round(self.info.seconds * self.info.rate), self.info.rate, self._fps)
        return total

    def has_frame(self, frame: int) -> bool:
        """Whether frame `frame` is part of the video, that is, begins before the last sample has ended."""
        return self.covers(frame / self._fps)

    def covers(self, seconds: Fraction) -> bool:
        """Whether the recording is longer than `seconds`; decodes as far as is needed to know."""
        self._decode_until(lambda: self._decoded > seconds * self.info.rate)
        with self._lock:
            return self._decoded > seconds * self.info.rate

    def model_samples(self, start: int, stop: int) -> Samples:
        """Samples start..stop at 16 kHz, mixed by MonoMix: float32 [stop - start].

        Zero before the recording and after its end. Raises ValueError for samples that were released.
        """
        self._decode_until(lambda: self._model.stop >= stop)
        with self._lock:
            return self._model.padded(start, stop)

    def release_model(self, before: int) -> None:
        """Model samples before `before` are not asked for again."""
        with self._lock:
            self._model.release(before)

    def sound_for_frame(self, frame: int) -> Samples:
        """The user's own sound: float32 [frame_edge(frame + 1) - frame_edge(frame), channels].

        Frames are taken once and in order. The last one is padded with silence.
        """
        if frame != self._next_frame:
            raise ValueError(f"the sound of frame {frame} was asked for, not that of {self._next_frame}")
        self._next_frame += 1
        start, stop = (frame_edge(edge, self.info.rate, self._fps) for edge in (frame, frame + 1))
        self._decode_until(lambda: self._sound.stop >= stop)
        with self._lock:
            sound = self._sound.padded(start, stop)
            self._sound.release(stop)
            return sound

    def close(self) -> None:
        """End the decoder; whoever waits for sound gets an error."""
        self._decoder.close()
        with self._lock:
            self._ended = True

    def _decode_until(self, enough: Callable[[], bool]) -> None:
        """Decode block by block; a thread that has what it needs does not wait for one that wants more."""
        while True:
            with self._lock:
                if self._ended or enough():
                    return
            with self._decoding:
                with self._lock:
                    if self._ended or enough():  # by another thread meanwhile
                        return
                self._advance()

    def _advance(self) -> None:
        block = next(self._blocks, None)
        mono = self._mix.finish() if block is None else self._mix.push(block)
        heard = self._resampler.resample_chunk(mono, last=block is None)
        with self._lock:
            self._model.append(heard)
            if block is None:
                self._ended = True
                return
            self._decoded += len(block)
            if self._keep_sound:
                self._sound.append(block)


class _Shelf:
    """Samples in order, the old ones dropped piece by piece."""

    def __init__(self, empty: Samples) -> None:
        self._empty = empty
        self._pieces: deque[tuple[int, Samples]] = deque()
        self._released = 0
        self.stop = 0

    def append(self, piece: Samples) -> None:
        """Put samples at the end."""
        if self.stop + len(piece) > self._released:
            self._pieces.append((self.stop, piece))
        self.stop += len(piece)

    def padded(self, start: int, stop: int) -> Samples:
        """A copy of samples start..stop, zero where there are none."""
        if max(start, 0) < min(stop, self._released):
            raise ValueError(f"sample {start} was released; {self._released} is the first that is kept")
        result = np.zeros((stop - start, *self._empty.shape[1:]), np.float32)
        for begin, piece in self._pieces:
            low, high = max(start, begin), min(stop, begin + len(piece))
            if low < high:
                result[low - start : high - start] = piece[low - begin : high - begin]
        return result

    def release(self, before: int) -> None:
        """Drop the pieces that end before sample `before`."""
        self._released = max(self._released, before)
        while self._pieces and self._pieces[0][0] + len(self._pieces[0][1]) <= self._released:
            self._pieces.popleft()
