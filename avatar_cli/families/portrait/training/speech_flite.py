"""Speech from flite's English voices with the segment times it prints. Needs the program flite 2.2 (Debian:
flite).
"""

import random
import subprocess
import tempfile
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from avatar_cli.families.portrait.audio_features import SAMPLE_RATE
from avatar_cli.families.portrait.training import sentences
from avatar_cli.families.portrait.training.phones import from_arpabet
from avatar_cli.families.portrait.training.utterance import Utterance

LEAD = 0.025
_VOICES = ("awb", "rms", "slt", "kal16")


def generate(rng: random.Random) -> Iterator[Utterance]:
    """Endless utterances of mixed voices and tempi."""
    with tempfile.TemporaryDirectory() as folder:
        wav = Path(folder) / "speech.wav"
        while True:
            stretch = rng.uniform(0.8, 1.25)
            yield _speak(sentences.english(rng), rng.choice(_VOICES), stretch, wav)


def _speak(text: str, voice: str, stretch: float, wav: Path) -> Utterance:
    command = [
        "flite",
        "-voice",
        voice,
        "--setf",
        f"duration_stretch={stretch:.3f}",
        "-psdur",
        "-t",
        text,
        str(wav),
    ]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    segments: list[tuple[str, float, float]] = []
    start = 0.0
    for field in printed.split():
        name, _, end = field.rpartition(":")
        segments.append((name, start, float(end)))
        start = float(end)
    with wave.open(str(wav)) as file:
        if file.getframerate() != SAMPLE_RATE:
            raise RuntimeError(
                f"flite voice {voice} speaks at {file.getframerate()} Hz, not {SAMPLE_RATE} Hz"
            )
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    return Utterance(samples, tuple(from_arpabet(segments)), f"flite {voice}", LEAD)
