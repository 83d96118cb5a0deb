"""Pictures and sound of any video or audio file, through the ffmpeg that the product uses."""

import subprocess
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from avatar_cli.media.ffmpeg import ffmpeg_path

Image = NDArray[np.uint8]  # [H, W, 3], RGB
Floats = NDArray[np.float32]

SOUND_RATE = 16_000


def read_frames(
    path: Path, *, fps: Fraction | None = None, seconds: float | None = None, filters: str = ""
) -> Iterator[Image]:
    """RGB frames uint8 [H, W, 3], one at a time.

    Args:
        path: Anything that ffmpeg reads.
        fps: Rate to repeat or drop frames to; None keeps every frame as it is.
        seconds: How much from the start; None for all.
        filters: ffmpeg video filters to apply as well, such as `scale=-2:360`.

    Raises:
        RuntimeError: ffmpeg failed; its words are in the message.
    """
    rate = [f"fps={fps}"] if fps is not None else []
    chain = ",".join([*rate, *([filters] if filters else []), "format=rgb24"])
    length = [] if seconds is None else ["-t", str(seconds)]
    # A PPM picture carries its own size, so nothing has to be asked beforehand.
    command = [*_ffmpeg(path, *length), "-map", "0:v:0", "-vf", chain, "-f", "image2pipe", "-c:v", "ppm"]
    if fps is None:
        command += ["-fps_mode", "passthrough"]
    # A reader that stops early closes the pipe, which ends ffmpeg.
    with (
        tempfile.TemporaryFile() as words,
        subprocess.Popen([*command, "-"], stdout=subprocess.PIPE, stderr=words) as process,
    ):
        assert process.stdout is not None
        while (frame := _read_ppm(process.stdout)) is not None:
            yield frame
        if process.wait() != 0:
            words.seek(0)
            raise RuntimeError(
                f"ffmpeg could not decode {path}: {words.read().decode(errors='replace').strip()}"
            )


def read_sound(path: Path, *, seconds: float | None = None) -> Floats:
    """Mono samples at 16 kHz, float32 [S], full scale 1. Raises RuntimeError with ffmpeg's words."""
    length = [] if seconds is None else ["-t", str(seconds)]
    command = [*_ffmpeg(path, *length), "-ac", "1", "-ar", str(SOUND_RATE), "-f", "f32le", "-"]
    return np.frombuffer(_run(command, path), np.float32).copy()


def extract_wav(path: Path, wav: Path, *, start: float = 0.0, seconds: float | None = None) -> None:
    """Copies the sound of a file into a WAV, 16-bit at its own rate and channels.

    Args:
        path: Anything with sound.
        wav: File to write.
        start: Seconds to skip; negative for silence in front.
        seconds: Length of the WAV; None for all.
    """
    shift = [f"adelay=delays={-start * 1000:.3f}:all=1"] if start < 0 else [f"atrim=start={start:.6f}"]
    chain = ",".join([*shift, "asetpts=N/SR/TB"])
    length = [] if seconds is None else ["-t", str(seconds)]
    _run([*_ffmpeg(path), "-vn", "-af", chain, *length, "-c:a", "pcm_s16le", "-y", str(wav)], path)


def _ffmpeg(path: Path, *input_options: str) -> list[str]:
    return [str(ffmpeg_path()), "-v", "error", "-nostdin", *input_options, "-i", f"file:{path}"]


def _run(command: list[str], path: Path) -> bytes:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"ffmpeg could not read {path}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def _read_ppm(stream: IO[bytes]) -> Image | None:
    """The next binary PPM picture with 8 bits a channel, or None at the end of the stream."""
    if not stream.readline():
        return None
    width, height = map(int, stream.readline().split())
    stream.readline()  # the largest value, 255
    return np.frombuffer(stream.read(width * height * 3), np.uint8).reshape(height, width, 3)
