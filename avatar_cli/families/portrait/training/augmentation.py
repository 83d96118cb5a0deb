"""Rooms, microphones, levels and disturbances laid over clean speech; the times of its sounds stay as they
are.
"""

from collections.abc import Sequence

import numpy as np

from avatar_cli.families.portrait.audio_features import SAMPLE_RATE
from avatar_cli.families.portrait.training.nonspeech import music, noise, unit_rms


def augment(samples: np.ndarray, babble: Sequence[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """A disturbed copy of float samples [n]; `babble` is speech of other people to mix in. float32 [n]."""
    disturbed = np.asarray(samples, np.float64)
    disturbed = _filtered(disturbed, rng)
    if rng.random() < 0.35:
        disturbed = _in_a_room(disturbed, rng)
    disturbed = _with_noise(disturbed, babble, rng)
    peak_db = rng.uniform(-3, 3) if rng.random() < 0.3 else rng.uniform(-45, 3)
    disturbed *= _gain(peak_db) / (np.abs(disturbed).max() + 1e-9)
    if rng.random() < 0.07:
        disturbed = np.clip(disturbed * _gain(rng.uniform(6, 24)), -1.0, 1.0)
    return disturbed.astype(np.float32)


def disturb_mels(mels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Mels [m, 48] of another vocal tract length (bands stretched by up to 10 %) and spectral tilt."""
    bands = mels.shape[-1]
    position = np.clip(np.arange(bands) * (1 + rng.uniform(-0.1, 0.1)) + rng.uniform(-1, 1), 0, bands - 1.001)
    below = position.astype(int)
    share = (position - below).astype(np.float32)
    stretched = mels[..., below] * (1 - share) + mels[..., below + 1] * share
    tilt = np.linspace(-1, 1, bands, dtype=np.float32) * np.float32(rng.uniform(-0.3, 0.3))
    return np.clip(stretched + tilt, -2.0, 2.0)


def _gain(decibels: float) -> float:
    return float(10 ** (decibels / 20))


def _filtered(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Peaks and dips of a microphone, and at times the pass band of a telephone or a cheap codec."""
    hertz = np.fft.rfftfreq(len(samples), 1 / SAMPLE_RATE)
    octaves = np.log2(np.maximum(hertz, 20.0))
    response_db = np.zeros(len(hertz))
    if rng.random() < 0.5:
        for _ in range(rng.integers(1, 4)):
            centre = rng.uniform(np.log2(120), np.log2(6000))
            response_db += rng.uniform(-10, 10) * np.exp(-(((octaves - centre) / rng.uniform(0.4, 1.5)) ** 2))
    kind = rng.random()
    if kind < 0.2:
        response_db += _edge(octaves, np.log2(rng.uniform(150, 350)), -24.0)
        response_db += _edge(-octaves, -np.log2(rng.uniform(2800, 3900)), -48.0)
    elif kind < 0.35:
        response_db += _edge(-octaves, -np.log2(rng.uniform(3500, 7000)), -48.0)
    return np.fft.irfft(np.fft.rfft(samples) * 10 ** (response_db / 20), len(samples))


def _edge(octaves: np.ndarray, corner: float, slope_db: float) -> np.ndarray:
    """Attenuation in dB below `corner`, `slope_db` per octave, no more than 80."""
    return np.maximum(slope_db * np.maximum(corner - octaves, 0.0), -80.0)


def _in_a_room(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The direct sound and an exponentially falling tail."""
    length = int(rng.uniform(0.1, 0.7) * SAMPLE_RATE)
    tail = rng.standard_normal(length) * np.exp(-6.9 * np.arange(length) / length)
    tail *= _gain(rng.uniform(-30, -6)) / np.sqrt(np.sum(tail**2))
    tail[0] = 1.0
    total = len(samples) + length
    return np.fft.irfft(np.fft.rfft(samples, total) * np.fft.rfft(tail, total), total)[: len(samples)]


def _with_noise(samples: np.ndarray, babble: Sequence[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    count = len(samples)
    level = np.sqrt(np.mean(samples**2)) + 1e-9
    choice = rng.random()
    if choice < 0.55:
        ratio_db = rng.uniform(0, 35)
        kind = rng.random()
        if kind < 0.5:
            disturbance = noise(count, rng)
        elif kind < 0.7:
            disturbance = music(count, rng)
        else:
            disturbance = _babble(count, babble, rng)
            ratio_db = max(ratio_db, 5.0)
        return samples + disturbance * level * _gain(-ratio_db)
    if choice < 0.8:
        return samples + noise(count, rng) * _gain(rng.uniform(-95, -65))
    return samples


def _babble(count: int, speech: Sequence[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    mix = np.zeros(count)
    for _ in range(rng.integers(2, 6)):
        voice = np.resize(speech[int(rng.integers(len(speech)))].astype(np.float64), count)
        mix += unit_rms(np.roll(voice, rng.integers(count)))
    return unit_rms(mix)
