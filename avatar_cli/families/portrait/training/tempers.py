"""What each prompt word means in the training data.

A temper is a row of numbers: natural logarithms of factors on how much somebody moves, and levels that are
added to the motion latents. A word adds to them in proportion to its intensity, so words go together and go
over into one another.
"""

from dataclasses import dataclass

import numpy as np

from avatar_cli.families.portrait.latents import CHANNELS
from avatar_cli.families.portrait.training.visemes import FPS
from avatar_cli.families.portrait.vocabulary import OPPOSITES, WORDS

# Logarithms of factors: how far head and brows move, how far the mouth opens, and how much of the lips'
# rounding is left.
AMOUNTS = ("head", "brows", "mouth", "rounding")
_SMILE = {"width": 0.050, "corner_y": -0.026, "upper_lip_y": -0.006, "protrude": 0.008, "rounding": -0.22}
_MEANINGS: dict[str, dict[str, float]] = {
    "calm": {"head": -0.70, "brows": -0.70, "mouth": -0.16},
    "lively": {"head": 0.50, "brows": 0.50, "mouth": 0.18},
    "happy": {
        **{name: 0.8 * amount for name, amount in _SMILE.items()},
        **{"head": 0.30, "brows": 0.30, "mouth": 0.08, "squint": 0.022, "brow_raise": 0.006},
    },
    "serious": {
        **{"head": -0.50, "brows": -0.90, "mouth": -0.05},
        **{"width": -0.010, "corner_y": 0.005, "brow_lower": 0.012, "squint": 0.006},
    },
    "sad": {
        **{"head": -0.70, "brows": -0.60, "mouth": -0.20},
        **{"width": -0.010, "corner_y": 0.018, "brow_lower": 0.010, "blink": 0.10, "gaze_y": 0.14},
        **{"pitch": 0.065, "shift_y_head": 0.02},
    },
    "surprised": {"head": 0.10, "brows": 0.10, "mouth": 0.28, "brow_raise": 0.036, "blink": -0.13},
    "smiling": {**_SMILE, "squint": 0.012},
    "still head": {"head": -1.80},
    "nodding": {},  # is added to what the network makes
    "looking left": {"gaze_x": -0.42, "yaw": -0.105},
    "looking right": {"gaze_x": 0.42, "yaw": 0.105},
    "looking up": {"gaze_y": -0.30, "pitch": -0.085, "blink": -0.05, "brow_raise": 0.006},
    "looking down": {"gaze_y": 0.30, "pitch": 0.095, "blink": 0.12},
}
_COLUMNS = (*AMOUNTS, *CHANNELS)
_MEANING = np.array([[_MEANINGS[word].get(column, 0.0) for column in _COLUMNS] for word in WORDS])

_TRANSITION_SECONDS = 0.5
_WORD_COUNTS = (0.34, 0.42, 0.19, 0.05)  # share of prompts with none, one, two and three words
_PLAIN_SHARE = 0.75  # of the words with one of the intensities that a prompt can say; the rest lie between
_INTENSITIES = (0.5, 1.0, 1.0, 1.5)
_SMALLEST_INTENSITY, _LARGEST_INTENSITY = 0.3, 1.6
_CHANGING_SHARE = 0.38  # of the recordings whose prompt changes at least once
_SHORTEST_PIECE_SECONDS = 0.8


@dataclass(frozen=True)
class Temper:
    """How somebody moves in each of n frames; see AMOUNTS.

    `head`, `brows`, `mouth`, `rounding` [n] are factors, `level` [n, 21] latents.
    """

    head: np.ndarray
    brows: np.ndarray
    mouth: np.ndarray
    rounding: np.ndarray
    level: np.ndarray


def temper_of(prompt: np.ndarray) -> Temper:
    """The temper that intensities [n, V] of WORDS ask for in each frame."""
    row = _in_time(prompt) @ _MEANING
    head, brows, mouth, rounding = np.exp(row[:, : len(AMOUNTS)]).T
    return Temper(head, brows, mouth, rounding, row[:, len(AMOUNTS) :])


def draw_prompt(frames: int, rng: np.random.Generator) -> np.ndarray:
    """Intensities float32 [frames, V] of random prompts, constant but for sudden changes to others."""
    prompt = np.empty((frames, len(WORDS)), np.float32)
    start = 0
    shortest = int(_SHORTEST_PIECE_SECONDS * FPS)
    changes = rng.random() < _CHANGING_SHARE
    while start < frames:
        longest = max(shortest + 1, frames // 2)
        length = int(rng.integers(shortest, longest + 1)) if changes else frames
        prompt[start : start + length] = _words(rng)
        start += length
    return prompt


def _words(rng: np.random.Generator) -> np.ndarray:
    """Intensities [V] of a few random words that do not contradict each other."""
    words: list[str] = []
    count = rng.choice(len(_WORD_COUNTS), p=_WORD_COUNTS)
    for word in rng.choice(WORDS, count, replace=False):
        if not any({word, other} == set(pair) for pair in OPPOSITES for other in words):
            words.append(str(word))
    meant = np.zeros(len(WORDS))
    for word in words:
        between = rng.uniform(_SMALLEST_INTENSITY, _LARGEST_INTENSITY)
        meant[WORDS.index(word)] = rng.choice(_INTENSITIES) if rng.random() < _PLAIN_SHARE else between
    return meant


def _in_time(prompt: np.ndarray) -> np.ndarray:
    """The prompt as a face follows it: every change begins at once and takes half a second, slow at both
    ends.
    """
    length = int(_TRANSITION_SECONDS * FPS)
    kernel = np.hanning(length + 2)[1:-1]
    held = np.concatenate([np.repeat(prompt[:1], length, axis=0), prompt])
    followed = [np.convolve(column, kernel / kernel.sum(), mode="valid")[-len(prompt) :] for column in held.T]
    return np.stack(followed, axis=1)
