"""How still the mouth is where nothing is said."""

import wave
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_RATE = 48_000


def write_silence(path: Path, seconds: int) -> None:
    """Writes digital silence: a WAV of zeros, 48 kHz, mono, 16 bits."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(_RATE)
        file.writeframes(bytes(2 * _RATE * seconds))


def restlessness(opening: NDArray[np.floating]) -> float:
    """95th percentile of (opening - its median), in the unit of `opening` [T]."""
    return float(np.quantile(opening - np.median(opening), 0.95))
