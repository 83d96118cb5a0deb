"""How heads, brows, lids and eyes move while people talk: random processes in the units of the motion
latents.

Speech says little about these movements beyond when they are lively, so they are drawn from band-limited
noise with the band levels measured on talking people, nods and raised brows on some of the stressed moments,
blinks with log-normal pauses, and a gaze that rests and jumps.
"""

from dataclasses import dataclass

import numpy as np

from avatar_cli.families.portrait.latents import POSE, UPPER
from avatar_cli.families.portrait.training.visemes import FPS


@dataclass(frozen=True)
class Temper:
    """How much a person moves; 1 is usual."""

    head: float = 1.0
    brows: float = 1.0
    mouth: float = 1.0
    smile: float = 0.0  # 0 none, 1 a full closed smile


_BANDS_HZ = ((0.08, 0.5), (0.5, 1.0), (1.0, 2.0), (2.0, 4.0))
# rms in each band while speaking: radians, radians, radians, e, e, log scale.
_POSE_RMS = {
    "yaw": (0.030, 0.028, 0.016, 0.006),
    "pitch": (0.024, 0.026, 0.015, 0.008),
    "roll": (0.021, 0.016, 0.009, 0.003),
    "shift_x_head": (0.028, 0.030, 0.018, 0.006),
    "shift_y_head": (0.028, 0.030, 0.014, 0.007),
    "log_scale": (0.006, 0.004, 0.003, 0.001),
}
_STILL_SHARE = 0.35  # of the movement that is left in silence
_QUIET_DB, _LIVELY_DB = -30.0, -5.0
_PEAK_DB, _PEAK_SPACING_FRAMES = -9.0, 12
_NOD_SHARE, _RAISE_SHARE = 0.4, 0.3  # of the stressed moments
_BLINKS_PER_MINUTE = 20.0
_BLINKS = ((0.35, 0.9, 1.0, 0.75, 0.4, 0.15), (0.5, 1.0, 0.7, 0.3, 0.1))
_DOUBLE_BLINK_SHARE = 0.12


def head_pose(level_db: np.ndarray, temper: Temper, rng: np.random.Generator) -> np.ndarray:
    """Pose channels [n, 6] of a head that speaks at level_db [n] (dB against the running reference)."""
    frames = len(level_db)
    activity = _STILL_SHARE + (1 - _STILL_SHARE) * _smooth(_activity(level_db), 25)
    pose = np.zeros((frames, len(POSE)))
    for band, (low, high) in enumerate(_BANDS_HZ):
        envelope = 0.4 + 0.6 * activity if band == 0 else activity
        for channel, name in enumerate(POSE):
            pose[:, channel] += envelope * _POSE_RMS[name][band] * band_noise(frames, low, high, rng)
    nods = _pulses(level_db, _NOD_SHARE, length=11, rng=rng)
    pitch = POSE.index("pitch")
    pose[:, pitch] += np.radians(1.6) * nods
    pose[:, POSE.index("shift_y_head")] += 0.02 * nods
    return pose * temper.head


def upper_face(level_db: np.ndarray, temper: Temper, rng: np.random.Generator) -> np.ndarray:
    """Upper-face channels float64 [n, 6]; each but the blink has median 0, so that no clip has a level of
    its own.
    """
    frames = len(level_db)
    activity = _activity(level_db)
    raises = _pulses(level_db, _RAISE_SHARE, length=13, rng=rng)
    brows = 0.008 * band_noise(frames, 0.08, 1.0, rng) + 0.006 * activity * band_noise(frames, 0.5, 2.0, rng)
    brows = temper.brows * (brows + 0.024 * raises)
    blink = _blinks(frames, rng)
    gaze = _gaze(frames, rng)
    squint = 0.003 * band_noise(frames, 0.05, 1.0, rng)
    channels = {
        "brow_raise": np.maximum(brows, 0.0),
        "brow_lower": np.maximum(-brows, 0.0),
        "gaze_x": gaze[:, 0],
        "gaze_y": gaze[:, 1],
        "squint": squint,
    }
    centred = {name: values - np.median(values) for name, values in channels.items()}
    centred["blink"] = blink
    centred["squint"] = centred["squint"] + 0.012 * temper.smile
    return np.stack([centred[name] for name in UPPER], axis=1)


def _activity(level_db: np.ndarray) -> np.ndarray:
    return np.clip((level_db - _QUIET_DB) / (_LIVELY_DB - _QUIET_DB), 0.0, 1.0)


def _smooth(values: np.ndarray, length: int) -> np.ndarray:
    kernel = np.hanning(length + 2)[1:-1]
    padded = np.pad(values, length // 2, mode="edge")
    return np.convolve(padded, kernel / kernel.sum(), mode="valid")[: len(values)]


def band_noise(frames: int, low: float, high: float, rng: np.random.Generator) -> np.ndarray:
    """Noise of unit rms between two frequencies in Hz; it is made longer than needed, so that it does not
    repeat.
    """
    length = frames + 512
    frequency = np.fft.rfftfreq(length, 1 / FPS)
    inside = (frequency >= low) & (frequency < high)
    spectrum = inside * (rng.standard_normal(len(frequency)) + 1j * rng.standard_normal(len(frequency)))
    rms = 2.0 * np.sqrt(inside.sum()) / length
    return np.fft.irfft(spectrum, length)[:frames] / rms


def _pulses(level_db: np.ndarray, share: float, length: int, rng: np.random.Generator) -> np.ndarray:
    """Raised cosines on a share of the loudest moments, of random height about 1."""
    level = _smooth(level_db, 5)
    pulses = np.zeros(len(level) + 2 * length)
    last = -_PEAK_SPACING_FRAMES
    shape = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(length) + 0.5) / length)
    for frame in range(1, len(level) - 1):
        peak = level[frame] > _PEAK_DB and level[frame - 1] <= level[frame] >= level[frame + 1]
        if peak and frame - last >= _PEAK_SPACING_FRAMES:
            last = frame
            if rng.random() < share:
                start = frame + length // 2
                pulses[start : start + length] += rng.uniform(0.4, 1.5) * shape
    return pulses[length : length + len(level)]


def _blinks(frames: int, rng: np.random.Generator) -> np.ndarray:
    lids = np.zeros(frames)
    now = rng.uniform(0.0, 4.0)
    usual_pause = 0.8 * 60.0 / _BLINKS_PER_MINUTE
    while now < frames / FPS:
        start = int(now * FPS)
        blink = np.array(_BLINKS[rng.integers(len(_BLINKS))]) * rng.uniform(0.88, 1.0)
        piece = blink[: frames - start]
        lids[start : start + len(piece)] = np.maximum(lids[start : start + len(piece)], piece)
        double = rng.random() < _DOUBLE_BLINK_SHARE
        now += 0.32 if double else max(0.5, rng.lognormal(np.log(usual_pause), 0.6))
    return lids


def _gaze(frames: int, rng: np.random.Generator) -> np.ndarray:
    """Fixations of 0.3 to 3 s, mostly near the viewer's eyes; iris radii [n, 2]."""
    gaze = np.zeros((frames, 2))
    frame = 0
    while frame < frames:
        length = int(FPS * np.clip(rng.lognormal(0.0, 0.6), 0.3, 3.0))
        spread = (0.07, 0.05) if rng.random() < 0.82 else (0.22, 0.10)
        gaze[frame : frame + length] = rng.normal(0.0, spread)
        frame += length
    return gaze
