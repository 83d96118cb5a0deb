"""Speech in: what a recording is, and its samples as a stream of fixed blocks."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import ffmpeg
import numpy as np
import numpy.typing as npt

from avatar_cli.media.ffmpeg import ChildProcess, ffmpeg_path
from avatar_cli.media.sound_kind import sniff_sound
from avatar_cli.protocol.errors import InputError, RenderFailure

BLOCK = 4096  # samples per channel; counted from zero, so that what follows never depends on timing
_SAMPLE_BYTES = 4
_DURATION = re.compile(r"Duration: (\d+):(\d\d):(\d\d\.\d+)")
_STREAM = re.compile(r"Stream #0:\d+.*?: Audio: (\w+)")
_LOWEST_RATE = 1000  # samples a second; below, nothing of speech is left
_LOUDEST = 1e6  # full scale is 1; beyond, a float is no sample, and encoders fail on it
_SHORT_BY = 0.25  # seconds below its header's length from which a recording counts as cut


@dataclass(frozen=True)
class SpeechInfo:
    """What the file says of itself.

    Attributes:
        codec: ffmpeg's name of the codec.
        rate: Samples a second.
        channels: Number of channels.
        seconds: The header's word for the length, an estimate; None where it says nothing.
    """

    codec: str
    rate: int
    channels: int
    seconds: float | None


def probe_speech(path: Path) -> SpeechInfo:
    """What the recording is, having decoded its first block.

    Raises:
        InputError: not WAV, FLAC or MP3, damaged, or without a single sample.
    """
    decoder = SpeechDecoder(path)
    decoder.close()
    return decoder.info


class SpeechDecoder:
    """Decodes a recording with an ffmpeg child, at its own rate and channel count, as fast as it is read.

    The first block is decoded at once. Memory is one block and a pipe, whatever the length.

    Attributes:
        info: What the file says of itself.
        warnings: One sentence for each thing wrong with the file, complete once the blocks have ended.

    Raises:
        InputError: not WAV, FLAC or MP3, damaged, or without a single sample.
        RenderFailure: ffmpeg was killed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.warnings: list[str] = []
        kind = sniff_sound(path)
        # A WAV header of unknown length on a pipe tells rate and channels before the first sample.
        talk = ("-hide_banner", "-nostats", "-nostdin", "-loglevel", "level+info")
        stream = ffmpeg.input(f"file:{path}", format=kind)["a:0"]
        stream = ffmpeg.output(stream, "pipe:1", format="wav", acodec="pcm_f32le", bitexact=None)
        argv = ffmpeg.compile(stream.global_args(*talk), cmd=str(ffmpeg_path()))
        self._child = ChildProcess(argv, stdout=subprocess.PIPE)
        self._samples = 0
        self._all_sound = True
        try:
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

    def _read_header(self) -> tuple[int, int]:
        stream = self._child.stdout
        head = stream.read(12)
        if len(head) < 12:
            raise self._undecodable()
        rate = channels = 0
        while (chunk := stream.read(8)) and chunk[:4] != b"data":
            body = stream.read(int.from_bytes(chunk[4:], "little"))
            if chunk.startswith(b"fmt "):
                channels = int.from_bytes(body[2:4], "little")
                rate = int.from_bytes(body[4:8], "little")
        return rate, channels

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
            raise RenderFailure(f"ffmpeg stopped while decoding {self._path}: {self._child.complaint()}.")
        if self._samples == 0:
            raise self._undecodable()
        seconds = self._samples / self.info.rate
        if damage := self._child.complaint() or self._cut_short(seconds):
            self.warnings.append(
                f"{self._path} is damaged ({damage}): the {seconds:.2f} s that can be decoded are used."
            )
        if not self._all_sound:
            self.warnings.append(f"{self._path} has samples that cannot be sound: they become silence.")

    def _cut_short(self, seconds: float) -> str | None:
        if any("corrupt" in line for line in self._child.lines):
            return "its end is missing"
        promised = self.info.seconds
        estimated = any("Estimating duration from bitrate" in line for line in self._child.lines)
        if promised is not None and not estimated and seconds < promised - _SHORT_BY:
            return f"its header promises {promised:.2f} s"
        return None

    def _undecodable(self) -> InputError:
        words = self._child.complaint()
        if words is None:
            return InputError(f"{self._path} holds no sound: give a recording of speech.")
        return InputError(f"{self._path} cannot be decoded ({words}): save it again as WAV, FLAC or MP3.")

    def _describe(self, rate: int, channels: int) -> SpeechInfo:
        stream = self._child.find(_STREAM)
        if stream is None:
            raise self._undecodable()
        if rate < _LOWEST_RATE:
            raise InputError(
                f"{self._path} has {rate} samples a second, too few for speech: record it again."
            )
        length = next((match for line in self._child.lines if (match := _DURATION.search(line))), None)
        seconds = int(length[1]) * 3600 + int(length[2]) * 60 + float(length[3]) if length else None
        return SpeechInfo(stream[1], rate, channels, seconds)
