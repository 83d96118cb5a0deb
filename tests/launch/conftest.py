"""Runs the command with the stand-in session, as real processes."""

import json
import os
import socket
import subprocess
import sys
import time
import wave
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from PIL import Image

STAND_IN = Path(__file__).parent / "stand_in"
RUN = (
    "import sys; from avatar_cli.cli.app import run; sys.exit(run(sys.argv[1:], session='stand_in_session'))"
)
PATIENCE = 120.0  # seconds; for a machine that does other things as well


@dataclass
class Job:
    """A running command and where its video goes."""

    process: subprocess.Popen
    output: Path

    @property
    def partial(self) -> Path:
        return self.output.with_name("out.partial.mp4")

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def agent(self) -> psutil.Process:
        return psutil.Process(self.process.pid).children()[0]

    def ranks(self) -> list[psutil.Process]:
        return sorted(self.agent().children(), key=lambda child: child.pid)

    def encoder(self) -> psutil.Process:
        return next(child for child in self.family() if child.name().startswith("ffmpeg"))

    def wait_for_frames(self) -> list[psutil.Process]:
        """Until the partial file grows; returns all processes of the job."""
        deadline = time.monotonic() + PATIENCE
        while not (self.partial.exists() and self.partial.stat().st_size > 3000):
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < deadline, "no frames came"
            time.sleep(0.05)
        return self.family()

    def wait_for_stage(self, name: str) -> list[psutil.Process]:
        """Until an event, with --json, says that this stage has begun; returns all processes of the job."""
        for line in self.process.stdout:
            event = json.loads(line)
            if event["event"] == "stage_started" and event["name"] == name:
                return self.family()
        raise AssertionError(f"no stage {name}: {self.process.communicate()}")

    @staticmethod
    def left(processes: list[psutil.Process], seconds: float) -> list[psutil.Process]:
        """Which of `processes` have not ended after so many seconds."""
        return psutil.wait_procs(processes, timeout=seconds)[1]

    def end(self) -> tuple[int, str, str]:
        """Exit code, stdout and stderr, once it has ended by itself."""
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err


@pytest.fixture
def start(tmp_path) -> Callable[..., Job]:
    """Starts a render of grey frames; `plan` goes to the stand-in session."""
    photo, speech = tmp_path / "me.png", tmp_path / "talk.wav"
    Image.new("RGB", (64, 64), "grey").save(photo)
    with wave.open(str(speech), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(bytes(2 * 16000))
    started = []

    def start(*options, environment=None, command=RUN, **plan):
        output = tmp_path / "out.mp4"
        words = ["render", photo, speech, "-o", output, "--size", "320x240", *options]
        environment = os.environ | {"STAND_IN": json.dumps(plan)} | (environment or {})
        environment["PYTHONPATH"] = os.pathsep.join([str(STAND_IN), *sys.path])
        process = subprocess.Popen(
            [sys.executable, "-c", command, *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        started.append(process)
        return Job(process, output)

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def unused_port() -> int:
    """A port that nobody listened on a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]
