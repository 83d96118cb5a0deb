"""Speech in: what a recording is, and its samples as a stream of fixed blocks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import ffmpeg
import numpy as np
import numpy.typing as npt

from avatar_cli.media.ffmpeg import start_ffmpeg
from avatar_cli.media.sound_kind import (
    DEMUXERS,
    PROMISE_A_LENGTH,
    begins_with_mpeg_frame,
    leaves_its_length_open,
)
from avatar_cli.media.speech_bytes import SpeechBytes
from avatar_cli.protocol.errors import AvatarError, InputError, RenderFailure

BLOCK = 4096  # samples per channel; counted from zero, so that what follows never depends on timing
_SAMPLE_BYTES = 4
_DURATION = re.compile(r"Duration: (\d+):(\d\d):(\d\d\.\d+)")
_KIND = re.compile(r"Input #0, (\S+), from")
_STREAM = re.compile(r"Stream #0:\d+.*?: Audio: (\w+)")
# What ffmpeg says of a file that is no recording, of one that it is not sure of, and of one without sound.
_UNKNOWN = ("Error opening input: Invalid data", "Format not on whitelist", "Not detecting m3u8/hls")
_UNSURE = "misdetection possible"
_NO_SOUND = "matches no streams"
_GUESSED = "Guessed Channel Layout"
_LOWEST_RATE = 1000  # samples a second; below, nothing of speech is left
_HIGHEST_RATE = 10_000_000  # ffmpeg gives DSD1024 5.6 million; its resamplers fail far above
_LOUDEST = 1000  # full scale is 1; beyond, a float is no sample, and AAC's search for a step never ends
_SHORT_BY = 0.25  # seconds below its header's length from which a recording counts as cut


@dataclass(frozen=True)
class SpeechInfo:
    """What the file says of itself.

    Attributes:
        codec: ffmpeg's name of the codec.
        rate: Samples a second.
        channels: Number of channels.
        positions: Where the channels belong, a bit each as in WAVEFORMATEXTENSIBLE; 0 where it says nothing.
        seconds: The header's word for the length, an estimate; None where it says nothing.
    """

    codec: str
    rate: int
    channels: int
    positions: int
    seconds: float | None


def probe_speech(path: Path, spool: Path | None = None) -> SpeechInfo:
    """What the recording is, having decoded its first block.

    Raises:
        InputError: nothing that ffmpeg decodes, or without a single sample.
    """
    decoder = SpeechDecoder(path, spool)
    decoder.close()
    return decoder.info


class SpeechDecoder:
    """Decodes the first sound track with an ffmpeg child, as fast as it is read.

    Rate and channels stay its own. The first block is decoded at once. Memory is one block and a pipe,
    whatever the length. A recording that is still arriving is decoded as it arrives.

    Args:
        path: The recording, in anything that ffmpeg reads, also the sound of a video.
        spool: Where it is kept if it arrives through a pipe.

    Attributes:
        info: What the file says of itself.
        warnings: One sentence for each thing wrong with the file, complete once the blocks have ended.

    Raises:
        InputError: nothing that ffmpeg decodes, or without a single sample.
        EnvironmentProblem: what arrived through a pipe broke off.
        RenderFailure: ffmpeg was killed.
    """

    def __init__(self, path: Path, spool: Path | None = None) -> None:
        self._bytes = SpeechBytes(path, spool)
        self._name = self._bytes.name
        self.warnings: list[str] = []
        self._child = start_ffmpeg(_decoded(self._bytes), [self._bytes.fd])
        self._samples = 0
        self._all_sound = True
        try:
            self._bytes.feed()
            self.info = self._describe(*self._read_header())
            self._first = self._read_block()
            if self._first is None:
                self._check_end()
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """Process id of ffmpeg."""
        return self._child.pid

    def blocks(self) -> Iterator[npt.NDArray[np.float32]]:
        """Samples as float32 [BLOCK, channels], in -1..1 for integer files; the last block is shorter.

        Raises:
            RenderFailure: ffmpeg was killed.
            EnvironmentProblem: what arrived through a pipe broke off.
        """
        block = self._first
        self._first = None
        while block is not None:
            yield block
            block = self._read_block()
        self._check_end()

    def close(self) -> None:
        """End the child; harmless when it has ended."""
        self._child.kill()
        self._child.stdout.close()
        self._bytes.close()

    def _read_header(self) -> tuple[int, int, int]:
        """Rate, number of channels and their positions, from WAVEFORMATEXTENSIBLE."""
        stream = self._child.stdout
        head = stream.read(12)
        if len(head) < 12:
            raise self._undecodable()
        rate = channels = positions = 0
        while (chunk := stream.read(8)) and chunk[:4] != b"data":
            body = stream.read(int.from_bytes(chunk[4:], "little"))
            if chunk.startswith(b"fmt "):
                channels = int.from_bytes(body[2:4], "little")
                rate = int.from_bytes(body[4:8], "little")
                positions = int.from_bytes(body[20:24], "little")
        return rate, channels, positions

    def _read_block(self) -> npt.NDArray[np.float32] | None:
        data = self._child.stdout.read(BLOCK * self.info.channels * _SAMPLE_BYTES)
        whole = len(data) - len(data) % (self.info.channels * _SAMPLE_BYTES)
        if whole == 0:
            return None
        block = np.frombuffer(data[:whole], dtype="<f4").reshape(-1, self.info.channels)
        self._samples += len(block)
        sound = np.abs(block) < _LOUDEST  # which NaN is not
        if not sound.all():
            self._all_sound = False
            block = np.where(sound, block, np.float32(0))
        return block

    def _check_end(self) -> None:
        status = self._child.wait()
        if status < 0:
            raise RenderFailure(f"ffmpeg stopped while decoding {self._name}: {self._child.complaint()}.")
        if self._bytes.fault:
            raise self._bytes.fault
        if self._samples == 0:
            raise self._undecodable()
        seconds = self._samples / self.info.rate
        if damage := self._child.complaint() or self._cut_short(seconds):
            self.warnings.append(
                f"{self._name} is damaged ({damage}): the {seconds:.2f} s that can be decoded are used."
            )
        if not self._all_sound:
            self.warnings.append(f"{self._name} has samples that cannot be sound: they become silence.")

    def _cut_short(self, seconds: float) -> str | None:
        if leaves_its_length_open(self._bytes.read):
            return None
        if self._bytes.lacks_its_end() or any("corrupt" in line for line in self._child.lines):
            return "its end is missing"
        promised = self.info.seconds
        kind = next((match[1] for line in self._child.lines if (match := _KIND.search(line))), "")
        estimated = any("Estimating duration from bitrate" in line for line in self._child.lines)
        exact = kind in PROMISE_A_LENGTH and not estimated
        if promised is not None and exact and seconds < promised - _SHORT_BY:
            return f"its header promises {promised:.2f} s"
        return None

    def _undecodable(self) -> AvatarError:
        words = self._child.complaint()
        if self._bytes.fault:
            return self._bytes.fault
        if words is None or _NO_SOUND in words:
            return InputError(
                f"{self._name} has no sound: give a recording of speech, or a video with sound."
            )
        if words.startswith(_UNKNOWN):
            return self._unknown()
        return InputError(
            f"{self._name} cannot be decoded ({words}): save it again, or give another recording."
        )

    def _unknown(self) -> InputError:
        return InputError(
            f"{self._name} is not a recording that ffmpeg knows: give a sound file, or a video with sound."
        )

    def _describe(self, rate: int, channels: int, positions: int) -> SpeechInfo:
        stream = self._child.find(_STREAM)
        if stream is None:
            raise self._undecodable()
        lines = self._child.lines
        if any(_UNSURE in line for line in lines) and not begins_with_mpeg_frame(self._bytes.read):
            raise self._unknown()
        if rate < _LOWEST_RATE:
            raise InputError(
                f"{self._name} has {rate} samples a second, too few for speech: record it again."
            )
        if rate > _HIGHEST_RATE:
            raise InputError(
                f"{self._name} has {rate} samples a second, more than any recorder makes: save it again."
            )
        length = next((match for line in lines if (match := _DURATION.search(line))), None)
        if leaves_its_length_open(self._bytes.read):
            length = None
        seconds = int(length[1]) * 3600 + int(length[2]) * 60 + float(length[3]) if length else None
        if any(_GUESSED in line for line in lines):
            positions = 0
        return SpeechInfo(stream[1], rate, channels, positions, seconds)


def _decoded(recording: SpeechBytes) -> ffmpeg.Stream:
    source = ffmpeg.input(**recording.ffmpeg_input, format_whitelist=",".join(DEMUXERS))
    # A WAV header of unknown length on a pipe tells rate and channels before the first sample; flushed, a
    # recording that is still being made is heard at once.
    return ffmpeg.output(
        source["a:0"],
        "pipe:1",
        format="wav",
        acodec="pcm_f32le",
        bitexact=None,
        flush_packets=1,
        map_metadata=-1,
        map_chapters=-1,
    )
