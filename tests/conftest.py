"""What all tests share: recordings, and how examples are chosen."""

import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from avatar_cli.assets import asset_path

# The same examples in every run, so that a failure is always a change's fault.
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")


@pytest.fixture
def speech(tmp_path: Path) -> Callable[[float], Path]:
    """The first seconds of the demo speech, repeated as often as it takes, as a WAV."""

    def cut(seconds: float) -> Path:
        with wave.open(str(asset_path("demo/speech.wav"))) as file:
            rate, samples = file.getframerate(), file.readframes(file.getnframes())
        sound = np.resize(np.frombuffer(samples, np.int16), round(seconds * rate))
        path = tmp_path / f"speech-{seconds}.wav"
        with wave.open(str(path), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(sound.tobytes())
        return path

    return cut
