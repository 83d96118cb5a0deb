"""What all tests share: signals, recordings, real media, threads, and how examples are chosen."""

import os
import signal
import wave
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from avatar_cli.assets import asset_path

# Two workers share two cores, and a rank of the command computes in one thread as well.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# The same examples in every run, so that a failure is always a change's fault.
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """All tests together keep two processes busy, for many wait for others; a few tests need no workers."""
    return 2 if config.args_source is pytest.Config.ArgsSource.TESTPATHS else 0


@pytest.fixture(scope="session", autouse=True)
def children_hear_signals() -> None:
    """Under nohup or in a shell's background some signals are ignored, by all that is started there as well.

    A handler is no part of what a child inherits: it starts with the system's own. These tests stay deaf.
    """
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda number, frame: None)


@pytest.fixture(scope="session")
def media() -> Path:
    """The folder of real pictures, recordings and clips."""
    folder = os.environ.get("AVATAR_TEST_MEDIA")
    if not folder:
        pytest.skip("AVATAR_TEST_MEDIA is not set: no real pictures and recordings to test with")
    return Path(folder)


@pytest.fixture(scope="session")
def one_thread() -> Iterator[None]:
    """As in a rank of the command: sums depend on the number of threads."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def write_speech() -> Callable[[Path, float], Path]:
    """Writes the first seconds of the demo speech, repeated as often as it takes, as a WAV."""

    def write(path: Path, seconds: float) -> Path:
        with wave.open(str(asset_path("demo/speech.wav"))) as file:
            rate, samples = file.getframerate(), file.readframes(file.getnframes())
        sound = np.resize(np.frombuffer(samples, np.int16), round(seconds * rate))
        with wave.open(str(path), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(sound.tobytes())
        return path

    return write


@pytest.fixture
def speech(tmp_path: Path, write_speech: Callable[[Path, float], Path]) -> Callable[[float], Path]:
    """So many seconds of it in this test's own folder."""
    return lambda seconds: write_speech(tmp_path / f"speech-{seconds}.wav", seconds)
