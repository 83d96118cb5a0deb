"""Pictures and sound of any file that ffmpeg reads."""

from collections.abc import Generator, Iterator
from fractions import Fraction
from pathlib import Path
from typing import IO

import ffmpeg
import numpy as np
from numpy.typing import NDArray

from avatar_cli.media.ffmpeg import ChildProcess, start_ffmpeg
from avatar_cli.protocol.timing import MODEL_RATE

Image = NDArray[np.uint8]  # [H, W, 3], RGB
Floats = NDArray[np.float32]

# Output options for `pictures_of`. A PPM picture carries its own size, so nothing has to be asked beforehand.
PICTURES = {"format": "image2pipe", "vcodec": "ppm", "pix_fmt": "rgb24"}


def read_frames(
    path: Path, *, fps: Fraction | None = None, seconds: float | None = None, filters: str = "null"
) -> Iterator[Image]:
    """RGB frames uint8 [H, W, 3] of the first video track, one at a time, converted by its colour tags.

    Args:
        path: Anything that ffmpeg reads.
        fps: Rate to repeat or drop frames to; None keeps every frame as it is.
        seconds: How much from the start; None for all.
        filters: ffmpeg video filters to apply as well, such as `scale=-2:360`.

    Raises:
        RuntimeError: ffmpeg failed; its words are in the message.
    """
    timing = {"vf": filters, "fps_mode": "passthrough"} if fps is None else {"vf": f"fps={fps},{filters}"}
    child = start_ffmpeg(ffmpeg.output(_input(path, seconds)["v:0"], "pipe:1", **PICTURES, **timing))
    yield from pictures_of(child)
    _check(child, path)


def read_sound(path: Path, *, seconds: float | None = None) -> Floats:
    """Samples of the first sound track, mixed to one channel, float32 [S] at MODEL_RATE, full scale 1.

    Raises:
        RuntimeError: ffmpeg failed; its words are in the message.
    """
    sound = _input(path, seconds)["a:0"]
    child = start_ffmpeg(ffmpeg.output(sound, "pipe:1", format="f32le", ac=1, ar=MODEL_RATE))
    samples = child.read()
    _check(child, path)
    return np.frombuffer(samples, "<f4").copy()


def extract_wav(path: Path, wav: Path, *, start: float = 0.0, seconds: float | None = None) -> None:
    """Copies the first sound track of a file into a WAV, 16-bit at its own rate and channels.

    Args:
        path: Anything with sound.
        wav: File to write.
        start: Seconds to skip; negative for silence in front.
        seconds: Length of the WAV; None for all.

    Raises:
        RuntimeError: ffmpeg failed; its words are in the message.
    """
    shift = f"adelay=delays={-start * 1000:.3f}:all=1" if start < 0 else f"atrim=start={start:.6f}"
    making = {"format": "wav", "acodec": "pcm_s16le", "af": f"{shift},asetpts=N/SR/TB", **_limit(seconds)}
    child = start_ffmpeg(ffmpeg.output(_input(path)["a:0"], f"file:{wav}", **making))
    child.read()
    _check(child, path)


def pictures_of(child: ChildProcess) -> Generator[Image, None, None]:
    """The pictures that ffmpeg writes with PICTURES, uint8 [H, W, 3] RGB; with the last of them it has ended.

    A reader that stops early ends it.
    """
    try:
        while (picture := _read_ppm(child.stdout)) is not None:
            yield picture
        child.wait()
    finally:
        child.kill()
        child.stdout.close()


def _read_ppm(stream: IO[bytes]) -> Image | None:
    """The next binary PPM picture with 8 bits a channel; None at the end, also where that cuts one off."""
    _kind, size, largest = stream.readline(), stream.readline(), stream.readline()
    if not largest:
        return None
    width, height = map(int, size.split())
    data = stream.read(width * height * 3)
    if len(data) < width * height * 3:
        return None
    return np.frombuffer(data, np.uint8).reshape(height, width, 3)


def _input(path: Path, seconds: float | None = None) -> ffmpeg.Stream:
    return ffmpeg.input(f"file:{path}", **_limit(seconds))


def _limit(seconds: float | None) -> dict[str, float]:
    return {} if seconds is None else {"t": seconds}


def _check(child: ChildProcess, path: Path) -> None:
    if child.wait() != 0:
        raise RuntimeError(f"ffmpeg could not read {path}: {child.complaint()}")
