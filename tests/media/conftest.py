"""Small made-up recordings, and the folder of real ones where there is one."""

import wave
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from avatar_cli.media.mp4_out import Mp4Writer, SoundFormat, VideoFormat
from avatar_cli.protocol.job import Encoding
from avatar_cli.protocol.timing import frame_edge


@pytest.fixture
def write_wav(tmp_path: Path) -> Callable[..., Path]:
    """Writes a 16-bit WAV of noise, the same for the same seed whatever its length."""

    def write(name: str, samples: int, rate: int = 22050, channels: int = 1, seed: int = 0) -> Path:
        noise = np.random.default_rng(seed).integers(-8000, 8000, (samples, channels), dtype=np.int16)
        path = tmp_path / name
        with wave.open(str(path), "wb") as file:
            file.setnchannels(channels)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(noise.tobytes())
        return path

    return write


class Rendering:
    """A writer of small videos with a tone, fed frame by frame."""

    def __init__(
        self, output: Path, fps: Fraction, sound: SoundFormat, size: tuple[int, int], preset: str
    ) -> None:
        self.fps, self.sound, self.size = fps, sound, size
        self.first_bytes = 0
        self.writer = Mp4Writer(output, VideoFormat(*size, fps), sound, Encoding(preset, 20, 96), self._count)

    def _count(self) -> None:
        self.first_bytes += 1

    def frame(self, index: int, picture: npt.NDArray[np.uint8] | None = None) -> None:
        edges = [frame_edge(edge, self.sound.rate, self.fps) for edge in (index, index + 1)]
        tone = 0.3 * np.sin(np.arange(*edges) * 2 * np.pi * 440 / self.sound.rate)
        self.writer.write_sound(np.repeat(tone[:, None], self.sound.channels, 1).astype(np.float32))
        if picture is None:
            picture = np.full((self.size[1], self.size[0], 3), index * 7 % 256, np.uint8)
        self.writer.write_frame(picture)


@pytest.fixture
def start_render(tmp_path: Path) -> Callable[..., Rendering]:
    def start(
        output: Path = tmp_path / "out.mp4",
        fps: Fraction = Fraction(25),
        rate: int = 22050,
        channels: int = 1,
        size: tuple[int, int] = (128, 96),
        preset: str = "ultrafast",
    ) -> Rendering:
        return Rendering(output, fps, SoundFormat(rate, channels), size, preset)

    return start
