"""Sound of any file as 16 kHz mono, by the ffmpeg binary that the product uses."""

import subprocess
from pathlib import Path

import imageio_ffmpeg
import numpy as np

from avatar_cli.families.portrait.audio_features import SAMPLE_RATE


def decode_speech(path: Path, seconds: float | None = None) -> np.ndarray:
    """The first `seconds` (or all) of a file's sound, float32 [n] in [-1, 1]."""
    limit = [] if seconds is None else ["-t", f"{seconds:g}"]
    command = [
        *(imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-i", str(path), *limit),
        *("-vn", "-ac", "1", "-ar", str(SAMPLE_RATE), "-f", "f32le", "-"),
    ]
    decoded = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    return np.frombuffer(decoded, np.float32)
