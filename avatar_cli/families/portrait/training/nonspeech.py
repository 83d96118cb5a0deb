"""Sounds that no mouth makes: coloured noise and tunes, as disturbance under speech and as examples of
silence.
"""

import numpy as np

from avatar_cli.families.portrait.audio_features import SAMPLE_RATE

_SCALE_STEPS = (0, 2, 4, 5, 7, 9, 12)  # semitones


def noise(count: int, rng: np.random.Generator) -> np.ndarray:
    """Noise of a random spectral slope and, at times, slow swelling; float64 [count], unit rms."""
    spectrum = np.fft.rfft(rng.standard_normal(count))
    frequency = np.maximum(np.fft.rfftfreq(count, 1 / SAMPLE_RATE), 50.0)
    samples = np.fft.irfft(spectrum * frequency ** -rng.uniform(0.0, 1.2), count)
    if rng.random() < 0.3:
        swell = rng.uniform(0.1, 5.0) * np.arange(count) / SAMPLE_RATE + rng.uniform()
        samples *= 1.0 + 0.8 * np.sin(2 * np.pi * swell)
    return unit_rms(samples)


def music(count: int, rng: np.random.Generator) -> np.ndarray:
    """A few voices of plucked, bowed or gliding notes, pads and drums; float64 [count], unit rms."""
    seconds = np.arange(count) / SAMPLE_RATE
    mix = np.zeros(count)
    for _ in range(rng.integers(1, 6)):
        mix += rng.uniform(0.2, 1.0) * _voice(seconds, rng)
    if rng.random() < 0.5:
        mix += rng.uniform(0.3, 2.0) * _drums(seconds, rng)
    return unit_rms(mix)


def unit_rms(samples: np.ndarray) -> np.ndarray:
    """The samples scaled to an rms of 1."""
    return samples / (np.sqrt(np.mean(samples**2)) + 1e-9)


def _voice(seconds: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    note_seconds = rng.uniform(0.12, 1.5)
    index = (seconds / note_seconds).astype(int)
    steps = rng.choice(_SCALE_STEPS, index.max() + 1)
    pitch = 55.0 * 2.0 ** (rng.integers(0, 48) / 12) * 2.0 ** (steps[index] / 12)
    vibrato = 1.0 + rng.choice([0.0, 0.01]) * np.sin(2 * np.pi * rng.uniform(4, 7) * seconds)
    phase = 2 * np.pi * np.cumsum(pitch * vibrato) / SAMPLE_RATE
    within = (seconds / note_seconds) % 1.0
    envelope = np.minimum(1.0, within * note_seconds / rng.uniform(0.005, 0.1)) * np.exp(
        -within * rng.uniform(0, 5)
    )
    steepness = rng.uniform(0.5, 2.0)
    tone = sum(np.sin(k * phase) / k**steepness for k in range(1, 9))
    return np.asarray(tone * envelope)


def _drums(seconds: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    beat = rng.uniform(0.25, 0.7)
    hits = np.exp(-((seconds / beat) % 1.0) * rng.uniform(10, 40))
    return rng.standard_normal(len(seconds)) * hits
