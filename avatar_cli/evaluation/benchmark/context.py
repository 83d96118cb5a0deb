"""What every part of the benchmark is given."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from avatar_cli.assets import asset_path
from avatar_cli.evaluation.benchmark.figures import Measurement
from avatar_cli.media.ffmpeg import ffmpeg_path

MEDIA_VARIABLE = "AVATAR_TEST_MEDIA"
FPS = Fraction(25)
SIZE = "1280x720"


@dataclass(frozen=True)
class Bench:
    """Where to work, and how often.

    Attributes:
        folder: For everything that is rendered.
        runs: Of every figure that varies from run to run.
        media: Folder of real recordings, or None where AVATAR_TEST_MEDIA is not set.
        long: Whether there is time for speech of more than a minute.
    """

    folder: Path
    runs: int
    media: Path | None
    long: bool = False

    def say(self, words: str) -> None:
        """Progress, for a person who watches."""
        print(words, file=sys.stderr, flush=True)


Part = Callable[[Bench], Measurement]


def media_folder() -> Path | None:
    """The folder that AVATAR_TEST_MEDIA names."""
    name = os.environ.get(MEDIA_VARIABLE)
    return Path(name) if name else None


def demo_reference() -> Path:
    """The bundled photo."""
    return asset_path("demo/reference.png")


def demo_speech(bench: Bench, seconds: int) -> Path:
    """The bundled speech, over and over, as a WAV of this length."""
    path = bench.folder / f"speech-{seconds}s.wav"
    if not path.exists():
        looped = ["-stream_loop", "-1", "-i", str(asset_path("demo/speech.wav")), "-t", str(seconds)]
        command = [
            str(ffmpeg_path()),
            "-v",
            "error",
            "-nostdin",
            "-y",
            *looped,
            "-c:a",
            "pcm_s16le",
            str(path),
        ]
        subprocess.run(command, check=True)
    return path
