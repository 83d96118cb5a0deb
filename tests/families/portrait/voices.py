"""Sounds for the tests of the voice gate: 16 kHz, mono."""

import wave

import numpy as np
import soxr

from avatar_cli.assets import asset_path

RATE = 16_000


def demo_speech():
    """The bundled speech, float32 [n]."""
    with wave.open(str(asset_path("demo/speech.wav"))) as file:
        rate = file.getframerate()
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16) / np.float32(32768)
    return soxr.resample(samples, rate, RATE).astype(np.float32)


def white_noise(seconds, level=0.1):
    return (level * np.random.default_rng(0).standard_normal(RATE * seconds)).astype(np.float32)
