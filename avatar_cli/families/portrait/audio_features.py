"""Speech as 48 log-mel bands, 100 times a second, while the sound is still arriving.

The only normalisation is a level follower that looks backwards, so nothing depends on the length of the
recording, and frames are computed four at a time whatever the pieces the samples came in, so nothing depends
on how they were cut.
"""

import math

import numpy as np

SAMPLE_RATE = 16_000
HOP = 160
MELS = 48
MELS_PER_FRAME = 4  # mel frames to a video frame at 25 frames/s
SILENCE = -2.0  # what every band holds in digital silence

_WINDOW = 400
_TRANSFORM = 512
_LOWEST_HZ, _HIGHEST_HZ = 60.0, 7600.0
_POWER_FLOOR = 1e-12
_FIRST_REFERENCE_DB, _LOWEST_REFERENCE_DB = -45.0, -68.0
_RISE_PER_FRAME = 0.3  # share of the way to a louder level
_FALL_WHILE_SOUNDING_DB, _FALL_IN_PAUSES_DB = 0.03, 0.004  # per frame
_SOUNDING_RANGE_DB = 25.0
_BELOW_DB, _ABOVE_DB = 45.0, 15.0  # bands are clipped to this range about the reference
_DB_PER_UNIT = 15.0


def _band_edges() -> np.ndarray:
    """Where the bands begin, peak and end, evenly spaced in mel; float64 [50], Hz."""

    def to_mel(hertz: float) -> float:
        return 2595.0 * math.log10(1.0 + hertz / 700.0)

    mels = np.linspace(to_mel(_LOWEST_HZ), to_mel(_HIGHEST_HZ), MELS + 2)
    return np.asarray(700.0 * (10.0 ** (mels / 2595.0) - 1.0))


def band_centres() -> np.ndarray:
    """Frequencies at which the bands peak, float64 [48], Hz."""
    return _band_edges()[1:-1]


def _mel_filters() -> np.ndarray:
    """Triangles of unit sum, evenly spaced in mel; float32 [257, 48]."""
    edges = _band_edges()
    hertz = np.linspace(0.0, SAMPLE_RATE / 2, _TRANSFORM // 2 + 1)[:, None]
    low, peak, high = edges[:-2], edges[1:-1], edges[2:]
    triangles = np.maximum(0.0, np.minimum((hertz - low) / (peak - low), (high - hertz) / (high - peak)))
    return (triangles / triangles.sum(axis=0)).astype(np.float32)


_FILTERS = _mel_filters()
_HANN = (0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(_WINDOW) / _WINDOW)).astype(np.float32)
_HANN_POWER = np.float32(np.sum(_HANN.astype(np.float64) ** 2))
# The window of frame i begins 200 samples before sample 160 i; a block of four frames spans 880 samples.
_BLOCK_SAMPLES = (MELS_PER_FRAME - 1) * HOP + _WINDOW
_BLOCK_HOP = MELS_PER_FRAME * HOP
_BLOCK_INDEX = np.arange(MELS_PER_FRAME)[:, None] * HOP + np.arange(_WINDOW)[None, :]


class LogMelStream:
    """Turns 16 kHz mono samples into log-mel frames as soon as these are complete.

    Frame i is centred on sample 160 i and needs 200 samples after it; sound before the first sample is
    silence. Values are (level - reference) / 15 dB + 1, clipped to [-2, 2], where the reference follows the
    loudest recent level.
    """

    def __init__(self) -> None:
        self._waiting = np.zeros(_WINDOW // 2, np.float32)
        self._samples = 0
        self._frames = 0
        self._reference_db = _FIRST_REFERENCE_DB

    def push(self, samples: np.ndarray) -> np.ndarray:
        """Take float32 samples [n] in [-1, 1]; give the frames that became complete, float32 [m, 48], m = 0,
        4, 8...
        """
        self._samples += len(samples)
        self._waiting = np.concatenate([self._waiting, samples])
        blocks = max(0, (len(self._waiting) - _BLOCK_SAMPLES) // _BLOCK_HOP + 1)
        mels = np.empty((blocks * MELS_PER_FRAME, MELS), np.float32)
        for block in range(blocks):
            start = block * _BLOCK_HOP
            piece = self._waiting[start : start + _BLOCK_SAMPLES]
            mels[block * MELS_PER_FRAME : (block + 1) * MELS_PER_FRAME] = self._block(piece)
        self._waiting = self._waiting[blocks * _BLOCK_HOP :].copy()
        self._frames += len(mels)
        return mels

    def finish(self) -> np.ndarray:
        """Give the last frames, silence being after the end: in all four for every 640 samples begun."""
        frames = MELS_PER_FRAME * math.ceil(self._samples / _BLOCK_HOP)
        missing = frames - self._frames
        needed = (missing - 1) * HOP + _WINDOW
        padding = max(0, needed - len(self._waiting)) if missing else 0
        samples = self._samples
        mels = self.push(np.zeros(padding, np.float32))
        self._samples = samples
        return mels

    def state(self) -> dict[str, np.ndarray]:
        """All that the coming frames depend on."""
        return {
            "waiting": self._waiting.copy(),
            "counts": np.array([self._samples, self._frames], np.int64),
            "reference_db": np.array([self._reference_db], np.float64),
        }

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Go on from what `state` gave."""
        self._waiting = state["waiting"].astype(np.float32)
        self._samples, self._frames = (int(count) for count in state["counts"])
        self._reference_db = float(state["reference_db"][0])

    def _block(self, samples: np.ndarray) -> np.ndarray:
        """Four frames of 880 samples."""
        spectrum = np.fft.rfft(samples[_BLOCK_INDEX] * _HANN, _TRANSFORM)
        power = (spectrum.real**2 + spectrum.imag**2) / _HANN_POWER
        band_power = power.astype(np.float32) @ _FILTERS
        band_db = 10.0 * np.log10(band_power + np.float32(_POWER_FLOOR))
        level_db = 10.0 * np.log10(band_power.mean(axis=1) + np.float32(_POWER_FLOOR))
        references = np.array([self._follow(float(level)) for level in level_db], np.float32)
        relative = np.clip(band_db - references[:, None], -_BELOW_DB, _ABOVE_DB)
        return relative / np.float32(_DB_PER_UNIT) + np.float32(1.0)

    def _follow(self, level_db: float) -> float:
        """Move the reference level towards `level_db`: up within 30 ms, down slowly, in pauses hardly."""
        reference = self._reference_db
        if level_db > reference:
            reference += _RISE_PER_FRAME * (level_db - reference)
        else:
            sounding = level_db > reference - _SOUNDING_RANGE_DB
            fall = _FALL_WHILE_SOUNDING_DB if sounding else _FALL_IN_PAUSES_DB
            reference = max(reference - fall, level_db, _LOWEST_REFERENCE_DB)
        self._reference_db = reference
        return reference


def log_mels(samples: np.ndarray) -> np.ndarray:
    """All frames of a whole recording: float32 [n] at 16 kHz to float32 [4 ceil(n / 640), 48]."""
    stream = LogMelStream()
    return np.concatenate([stream.push(samples), stream.finish()])


def frame_level(mels: np.ndarray) -> np.ndarray:
    """Loudness of each mel frame relative to the reference, dB in [-45, 15]; float [m, 48] to [m]."""
    relative_db = (mels - 1.0) * _DB_PER_UNIT
    power: np.ndarray = 10.0 * np.log10(np.mean(10.0 ** (relative_db / 10.0), axis=-1))
    return power
