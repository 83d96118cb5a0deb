"""What each prompt word means in the training data."""

from dataclasses import dataclass

import numpy as np

from avatar_cli.families.portrait.latents import MOUTH
from avatar_cli.families.portrait.training.motion_prior import Temper

# Mouth of a full smile, e, and how much of the lips' rounding it leaves.
_SMILE = {"width": 0.050, "corner_y": -0.026, "upper_lip_y": -0.006, "protrude": 0.008}
_ROUNDING_LEFT = 0.8
_PROMPTS: tuple[tuple[tuple[str, ...], float], ...] = (
    ((), 0.44),
    (("calm",), 0.14),
    (("lively",), 0.14),
    (("smiling",), 0.14),
    (("calm", "smiling"), 0.07),
    (("lively", "smiling"), 0.07),
)


@dataclass(frozen=True)
class Prompt:
    """Words and what they do to the motion."""

    words: tuple[str, ...]
    temper: Temper


def draw_prompt(rng: np.random.Generator) -> Prompt:
    """A random prompt, with people who differ under the same words."""
    shares = np.array([share for _, share in _PROMPTS])
    words = _PROMPTS[rng.choice(len(_PROMPTS), p=shares / shares.sum())][0]
    return Prompt(words, temper_of(words, individual=float(np.exp(0.25 * rng.standard_normal()))))


def temper_of(words: tuple[str, ...], individual: float = 1.0) -> Temper:
    """The temper that prompt words ask for; `individual` scales how much head and brows move."""
    activity, mouth = 1.0, 1.0
    if "calm" in words:
        activity, mouth = 0.5, 0.85
    elif "lively" in words:
        activity, mouth = 1.6, 1.2
    smile = 1.0 if "smiling" in words else 0.0
    return Temper(head=activity * individual, brows=activity * individual, mouth=mouth, smile=smile)


def with_temper(mouth: np.ndarray, temper: Temper) -> np.ndarray:
    """Mouth distances [n, 9] in e of a person in this temper."""
    shaped = mouth * temper.mouth
    width = MOUTH.index("width")
    rounding = np.minimum(shaped[:, width], 0.0)
    shaped[:, width] -= temper.smile * (1 - _ROUNDING_LEFT) * rounding
    smile = np.array([_SMILE.get(name, 0.0) for name in MOUTH])
    return shaped + temper.smile * smile
