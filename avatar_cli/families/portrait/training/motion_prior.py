"""How heads, brows, lids and eyes move while people talk: random processes in the units of the motion
latents.

Speech says little about these movements beyond when they are lively, so they are drawn from band-limited
noise with the band levels measured on talking people, nods and raised brows on some of the stressed moments,
blinks with log-normal pauses, and a gaze that rests and jumps.
"""

import numpy as np

from avatar_cli.families.portrait.habits import USUAL_BLINKS, Habits
from avatar_cli.families.portrait.latents import CHANNELS, POSE, POSE_SLICE, UPPER
from avatar_cli.families.portrait.training.tempers import Temper
from avatar_cli.families.portrait.training.visemes import FPS

_BANDS_HZ = ((0.07, 0.5), (0.5, 1.0), (1.0, 2.0), (2.0, 4.0))
# rms in each band while speaking: radians, radians, radians, e, e, log scale; before `_HEAD_FACTOR`.
_POSE_RMS = {
    "yaw": (0.046, 0.030, 0.016, 0.0060),
    "pitch": (0.038, 0.028, 0.015, 0.0070),
    "roll": (0.030, 0.017, 0.009, 0.0030),
    "shift_x_head": (0.034, 0.026, 0.015, 0.0050),
    "shift_y_head": (0.034, 0.026, 0.012, 0.0055),
    "log_scale": (0.0075, 0.0040, 0.0028, 0.0010),
}
# Measured on the networks: six steps of sampling and the settling afterwards take a tenth off the head, and a
# few blinks.
_HEAD_FACTOR = 1.25
_TEMPO_FACTOR = 1.02
_SLOW_ENVELOPE = (0.6, 0.4)  # what of the slowest band silence and speech leave
_STILL_SHARE = 0.35  # of the movement that is left in silence
_QUIET_DB, _LIVELY_DB = -30.0, -5.0
_PEAK_DB, _PEAK_SPACING_FRAMES = -9.0, 12
_NOD_SHARE, _RAISE_SHARE = 0.4, 0.3  # of the stressed moments
_STRESS_NOD = np.radians(1.6)
_BLINK_FACTOR = 1.06
_BLINKS = ((0.35, 0.9, 1.0, 0.75, 0.4, 0.15), (0.5, 1.0, 0.7, 0.3, 0.1))
_DOUBLE_BLINK_SHARE = 0.12
# Median pause between blinks over the mean one, and the spread of its logarithm.
_PAUSE_MEDIAN, _PAUSE_SPREAD = 0.90, 0.6
_PITCH, _SHIFT_Y = POSE.index("pitch"), POSE.index("shift_y_head")
_UPPER_LEVEL = slice(CHANNELS.index(UPPER[0]), CHANNELS.index(UPPER[0]) + len(UPPER))


def head_pose(level_db: np.ndarray, temper: Temper, habits: Habits, rng: np.random.Generator) -> np.ndarray:
    """Pose channels [n, 6] of a head that speaks at level_db [n] (dB against the running reference)."""
    frames = len(level_db)
    activity = _STILL_SHARE + (1 - _STILL_SHARE) * _smooth(_activity(level_db), 25)
    tempo = _TEMPO_FACTOR * np.exp(habits.tempo)
    pose = np.zeros((frames, len(POSE)))
    for band, (low, high) in enumerate(_BANDS_HZ):
        envelope = _SLOW_ENVELOPE[0] + _SLOW_ENVELOPE[1] * activity if band == 0 else activity
        for channel, name in enumerate(POSE):
            noise = band_noise(frames, tempo * low, tempo * high, rng)
            pose[:, channel] += envelope * _POSE_RMS[name][band] * noise
    nods = _pulses(level_db, _NOD_SHARE, length=11, rng=rng)
    pose[:, _PITCH] += _STRESS_NOD * nods
    pose[:, _SHIFT_Y] += 0.02 * nods
    pose *= (temper.head * _HEAD_FACTOR * np.exp(habits.head))[:, None]
    return pose + temper.level[:, POSE_SLICE]


def upper_face(level_db: np.ndarray, temper: Temper, habits: Habits, rng: np.random.Generator) -> np.ndarray:
    """Upper-face channels float64 [n, 6]; but for the blink and what the temper asks for each has median 0,
    so that no clip has a level of its own.
    """
    frames = len(level_db)
    activity = _activity(level_db)
    raises = _pulses(level_db, _RAISE_SHARE, length=13, rng=rng)
    brows = 0.008 * band_noise(frames, 0.08, 1.0, rng) + 0.006 * activity * band_noise(frames, 0.5, 2.0, rng)
    brows = temper.brows * (brows + 0.024 * raises)
    gaze = _gaze(frames, rng)
    channels = {
        "brow_raise": np.maximum(brows, 0.0),
        "brow_lower": np.maximum(-brows, 0.0),
        "gaze_x": gaze[:, 0],
        "gaze_y": gaze[:, 1],
        "squint": 0.003 * band_noise(frames, 0.05, 1.0, rng),
    }
    moving = {name: values - np.median(values) for name, values in channels.items()}
    level = dict(zip(UPPER, temper.level[:, _UPPER_LEVEL].T, strict=True))
    shut = _blinks(frames, _BLINK_FACTOR * USUAL_BLINKS * np.exp(habits.blinks), rng)
    faces = {name: moving[name] + level[name] for name in moving}
    faces["blink"] = level["blink"] + (1.0 - level["blink"]) * shut
    return np.stack([faces[name] for name in UPPER], axis=1)


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


def _blinks(frames: int, per_minute: float, rng: np.random.Generator) -> np.ndarray:
    lids = np.zeros(frames)
    usual_pause = 60.0 / per_minute
    now = rng.uniform(0.0, usual_pause)
    while now < frames / FPS:
        start = int(now * FPS)
        blink = np.array(_BLINKS[rng.integers(len(_BLINKS))]) * rng.uniform(0.92, 1.0)
        piece = blink[: frames - start]
        lids[start : start + len(piece)] = np.maximum(lids[start : start + len(piece)], piece)
        double = rng.random() < _DOUBLE_BLINK_SHARE
        now += 0.32 if double else max(0.5, rng.lognormal(np.log(_PAUSE_MEDIAN * usual_pause), _PAUSE_SPREAD))
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
