"""Measures the habits of a person in the frames of a video.

What a short clip shows of a habit is partly chance, so every logarithm is drawn towards 0, the usual: after t
seconds that say something about it, t / (t + t0) of it is believed.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.blinking import blink_stretches
from avatar_cli.families.portrait.frame_facts import FrameFacts
from avatar_cli.families.portrait.geometry import euler_angles, fit_pose
from avatar_cli.families.portrait.habits import (
    USUAL,
    USUAL_BLINKS,
    USUAL_GAP_RANGE,
    USUAL_HEAD,
    USUAL_TEMPO,
    USUAL_WIDTH_RANGE,
    Habits,
    usual_mouth_scale,
)
from avatar_cli.families.portrait.latents import MOUTH
from avatar_cli.families.portrait.measures import measure_mouth
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from avatar_cli.media.video_reference import WATCHED_FPS

Doubles = NDArray[np.float64]
Curve = NDArray[np.floating]

_RATE = float(WATCHED_FPS)
# Seconds after which half of what is seen is believed.
_HALF_HEAD, _HALF_TEMPO, _HALF_BLINKS, _HALF_MOUTH = 3.0, 4.0, 20.0, 3.0
_FEWEST_FRAMES = 12  # about a second; less says nothing
_AROUND = 25  # frames either side whose median is the usual opening: two seconds
_MOST_TURNED = math.radians(45)  # beyond, a mesh tells nothing about lips and lids
# Without sound a mouth speaks where it opens and closes by this much, e, within so many frames either side.
_SPEAKING_GAP, _SYLLABLE = 0.035, 5
_SMOOTHING = np.array([0.25, 0.5, 0.25])  # of the tracked angles, which tremble
_GAP, _WIDTH = MOUTH.index("gap"), MOUTH.index("width")


def measure_habits(frames: Sequence[FrameFacts], mesh: NDArray, voice: NDArray[np.bool_] | None) -> Habits:
    """How the person moves, against what is usual.

    Args:
        frames: Those in which the face was found, in order.
        mesh: float [478, 3], the person's neutral face, e.
        voice: bool, for each of them whether somebody speaks; None where the video has no sound.
    """
    poses = [fit_pose(facts.landmarks, mesh) for facts in frames]
    seen = [abs(facts.turn) <= _MOST_TURNED for facts in frames]
    stretches = [
        stretch
        for stretch in _stretches(frames)
        if all(seen[index] for index in stretch) and len(stretch) > 2
    ]
    if sum(map(len, stretches)) < _FEWEST_FRAMES:
        return USUAL
    angles = _within_shots(np.array([euler_angles(pose.rotation) for pose in poses]), frames)
    canonical = [pose.to_canonical(facts.landmarks) for pose, facts in zip(poses, frames, strict=True)]
    mouth = measure_mouth(np.stack(canonical))
    lids = np.array([facts.lids for facts in frames])
    head, tempo = _head_habits([_smoothed(angles[stretch]) for stretch in stretches])
    speaks = _mouth_moves(mouth[:, _GAP], stretches) if voice is None else voice
    spoken = np.concatenate([stretch[speaks[stretch]] for stretch in stretches])
    scale = usual_mouth_scale(mesh, load_motion_basis().shape)
    return Habits(
        head=head,
        tempo=tempo,
        blinks=_blink_habit([lids[stretch] for stretch in stretches]),
        mouth=_range_habit(mouth[spoken, _GAP], USUAL_GAP_RANGE * scale),
        width=_range_habit(mouth[spoken, _WIDTH], USUAL_WIDTH_RANGE * scale),
    )


def _stretches(frames: Sequence[FrameFacts]) -> list[NDArray[np.int64]]:
    """Indices of frames that follow each other without a gap or a cut."""
    breaks = [
        index + 1
        for index, (before, after) in enumerate(pairwise(frames))
        if after.seconds - before.seconds > 1.5 / _RATE or after.shot != before.shot
    ]
    return np.split(np.arange(len(frames)), breaks)


def _within_shots(angles: Doubles, frames: Sequence[FrameFacts]) -> Doubles:
    """Angles [T, 3] against the mean of their shot: a cut is no motion of the head."""
    shots = np.array([facts.shot for facts in frames])
    centred = angles.copy()
    for shot in np.unique(shots):
        centred[shots == shot] -= angles[shots == shot].mean(axis=0)
    return centred


def _smoothed(angles: Doubles) -> Doubles:
    """Angles [T, 3] without the tracker's tremble, [T - 2, 3]."""
    return np.asarray(
        np.tensordot(np.lib.stride_tricks.sliding_window_view(angles, 3, axis=0), _SMOOTHING, 1)
    )


def _head_habits(stretches: Sequence[Doubles]) -> tuple[float, float]:
    """Range and tempo of the head, from angles [T, 3] in radians."""
    every = np.concatenate(stretches)
    seconds = len(every) / _RATE
    deviation = math.sqrt(every.var(axis=0).mean())
    speeds = np.concatenate([np.diff(angles, axis=0) for angles in stretches]) * _RATE
    speed = math.sqrt((speeds**2).mean())
    tempo = speed / max(deviation, 1e-6) / (2 * math.pi)
    return (
        _believed(deviation / USUAL_HEAD, seconds, _HALF_HEAD),
        _believed(tempo / USUAL_TEMPO, seconds, _HALF_TEMPO),
    )


def _blink_habit(stretches: Sequence[Doubles]) -> float:
    """Blinks a minute as if `_HALF_BLINKS` seconds with the usual number had been seen before."""
    count = sum(_blinks(lids) for lids in stretches)
    seconds = sum(map(len, stretches)) / _RATE
    usual = USUAL_BLINKS / 60
    return _within_limits(math.log((count + usual * _HALF_BLINKS) / (usual * (seconds + _HALF_BLINKS))))


def _blinks(lids: Doubles) -> int:
    """Blinks that begin in the heights of the eye slits [T]."""
    around = min(_AROUND, len(lids))
    padded = np.pad(lids, around, mode="symmetric")
    return int(np.count_nonzero(blink_stretches(lids, padded, _RATE)[:, 0] > 0))


def _mouth_moves(gap: Curve, stretches: Sequence[NDArray[np.int64]]) -> NDArray[np.bool_]:
    moves = np.zeros(len(gap), bool)
    for stretch in stretches:
        padded = np.pad(gap[stretch], _SYLLABLE, mode="edge")
        windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * _SYLLABLE + 1)
        moves[stretch] = np.ptp(windows, axis=1) >= _SPEAKING_GAP
    return moves


def _range_habit(curve: Curve, usual: float) -> float:
    if len(curve) < _FEWEST_FRAMES:
        return 0.0
    low, high = np.quantile(curve, [0.05, 0.95])
    return _believed(float(high - low) / usual, len(curve) / _RATE, _HALF_MOUTH)


def _believed(ratio: float, seconds: float, half: float) -> float:
    return _within_limits(math.log(max(ratio, 1e-6)) * seconds / (seconds + half))


def _within_limits(logarithm: float) -> float:
    return float(np.clip(logarithm, -1.0, 1.0))
