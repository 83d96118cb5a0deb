"""A video of a person as a reference: frames of moments spread over it, upright, in sRGB, one at a time."""

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

from avatar_cli.media.decoding import PICTURES, pictures_of
from avatar_cli.media.loading_size import loading_size
from avatar_cli.media.speech_source import SpeechSource
from avatar_cli.media.video_probe import VideoInfo, decode_video, probe_video
from avatar_cli.protocol.errors import InputError
from avatar_cli.protocol.timing import MODEL_RATE

LONGEST = 60.0  # seconds that are read
SHORTEST = 2.0  # that are read of the largest video
# Of a large video less is read, so that its person is known within two seconds on two cores: 18 s of 720p at
# 30 frames/s, 8 s of 1080p, 2 s of 4K.
MOST_DECODED_PIXELS = 500_000_000
# Blinks last two to four of these frames, and heads hardly move faster than 4 Hz.
WATCHED_FPS = Fraction(25, 2)
MOST_FRAMES = 150
RUN_FRAMES = 50  # that follow each other where not all are watched: 4 s
_SCALING = "area+full_chroma_int"
_HD_HEIGHT = 720  # from which BT.709 is the rule for what is not tagged
# Full white of SDR in HDR, candela per square metre (ITU-R BT.2408); brighter light is rolled off.
_WHITE = 203
_TO_SDR = (
    f"zscale=transfer=linear:npl={_WHITE},format=gbrpf32le,zscale=primaries=709,"
    "tonemap=mobius:desat=0,zscale=transfer=iec61966-2-1,format=rgb24"
)


@dataclass(frozen=True)
class VideoFrame:
    """One frame.

    Attributes:
        seconds: Since the start of the video.
        run: Frames of one run follow each other at WATCHED_FPS.
        pixels: uint8 [H, W, 3], sRGB, upright, square pixels.
    """

    seconds: float
    run: int
    pixels: npt.NDArray[np.uint8]


@dataclass(frozen=True)
class _Choice:
    """Which frames at WATCHED_FPS are watched: the first `length` of every `period`."""

    seconds: float  # from the start, that are read at all
    length: int
    period: int

    def place(self, number: int) -> tuple[int, int]:
        """Run and position at WATCHED_FPS of the frame that comes as `number`."""
        run, within = divmod(number, self.length)
        return run, run * self.period + within


class ReferenceVideo:
    """A video whose frames are decoded while they are asked for; none is kept.

    Args:
        path: The file.
        enough: Width and height of the video to be made; much larger frames are made smaller.

    Attributes:
        path: The file, for sentences about it.
        info: What it says of itself.
        warnings: Sentences for the user; complete once the frames have been read.

    Raises:
        InputError: as `probe_video`.
    """

    def __init__(self, path: Path, enough: tuple[int, int] | None = None) -> None:
        self.path = path
        self.info = probe_video(path)
        self.warnings: list[str] = []
        self._size = loading_size((self.info.width, self.info.height), enough)
        self._choice = _choose(self.info)

    @property
    def seconds(self) -> float:
        """How much of it is read at most, from its start."""
        told = self.info.seconds
        return self._choice.seconds if told is None else min(self._choice.seconds, told)

    def frames(self) -> Generator[VideoFrame, None, None]:
        """At most MOST_FRAMES frames of runs that are spread evenly over what is read.

        The rate of the video may vary: every frame is the one that is seen at its time, so that a slow video
        gives some twice. The next frame is read while the last one is looked at.
        """
        with closing(self._read()) as frames, ThreadPoolExecutor(1, "reference-video") as reader:
            coming = reader.submit(next, frames, None)
            while (frame := coming.result()) is not None:
                coming = reader.submit(next, frames, None)
                yield frame

    def _read(self) -> Generator[VideoFrame, None, None]:
        making = {**PICTURES, "vf": self._filters(), "fps_mode": "passthrough", "frames": MOST_FRAMES}
        child = decode_video(self.path, {"t": self._choice.seconds}, making)
        count = 0
        with closing(pictures_of(child)) as pictures:
            for pixels in pictures:
                run, position = self._choice.place(count)
                yield VideoFrame(float(position / WATCHED_FPS), run, pixels)
                count += 1
        if damage := child.complaint():
            self._tell_damage(count, damage)

    def sound(self, seconds: float) -> npt.NDArray[np.float32] | None:
        """The first seconds of its sound, mono: float32 [n] at MODEL_RATE; None where it has none."""
        if not self.info.sound:
            return None
        try:
            source = SpeechSource(self.path, WATCHED_FPS, keep_sound=False)
        except InputError:
            self.warnings.append(f"The sound of {self.path} cannot be decoded: only its pictures are used.")
            return None
        try:
            samples = source.model_samples(0, round(seconds * MODEL_RATE))
        finally:
            source.close()
        return samples

    def _tell_damage(self, count: int, damage: str) -> None:
        if count == 0:
            raise InputError(
                f"{self.path} cannot be decoded ({damage}): save it again, or give another video."
            )
        self.warnings.append(f"{self.path} is damaged ({damage}): the frames that can be decoded are used.")

    def _filters(self) -> str:
        width, height = self._size
        matrix = ""
        if not self.info.tells_matrix and self.info.height >= _HD_HEIGHT:
            matrix = ":in_color_matrix=bt709"
        choice = self._choice
        return ",".join(
            (
                "yadif=deint=interlaced",
                "setpts=PTS-STARTPTS",
                f"fps={WATCHED_FPS}",
                f"select='lt(mod(n,{choice.period}),{choice.length})'",
                f"scale=w={width}:h={height}:flags={_SCALING}{matrix}",
                *((_TO_SDR,) if self.info.hdr else ()),
            )
        )


def _choose(info: VideoInfo) -> _Choice:
    affordable = MOST_DECODED_PIXELS / (info.width * info.height * info.rate)
    seconds = min(LONGEST, max(SHORTEST, affordable))
    length = seconds if info.seconds is None else min(seconds, info.seconds)
    frames = int(length * WATCHED_FPS)
    if frames <= MOST_FRAMES:
        return _Choice(seconds, MOST_FRAMES, MOST_FRAMES)
    pauses = MOST_FRAMES // RUN_FRAMES - 1
    return _Choice(seconds, RUN_FRAMES, (frames - RUN_FRAMES) // pauses)
