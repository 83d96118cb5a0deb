"""What the mouth does for a known sequence of sounds: the training target where no camera watched.

Dominance model (after Cohen and Massaro, 1993, "Modeling coarticulation in synthetic visual speech"): every
sound has a mouth shape and a dominance that rises before it and falls after it; the mouth is the dominance-
weighted mean of the shapes, times a factor of the loudness. Lips that must meet, or a lip that must meet the
teeth, then do so.

The shapes were written down from phonetics (open, spread, rounded, lip to lip, lip to teeth) and are drawn
towards the training clips by `calibration`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from avatar_cli.families.portrait.audio_encoder import UNITS
from avatar_cli.families.portrait.latents import MOUTH
from avatar_cli.families.portrait.training.phones import UNIT_INDEX, TimedUnit

FPS = 25.0
GAP = MOUTH.index("gap")
# Closed frames aim below zero, so that the network's mean still closes the lips.
CONTACT_GAP = -0.008
LIP_TO_TEETH_GAP = 0.012

# jaw_drop, gap, width, lower_roll, upper_roll, protrude; e. upper_lip_y and corner_y follow from these.
_SHAPES = {
    "SIL": (0.000, 0.000, 0.000, 0.000, 0.000, 0.000),
    "P B M": (0.010, -0.012, -0.014, -0.012, -0.009, 0.000),
    "F V": (0.006, 0.012, 0.004, -0.020, 0.002, 0.002),
    "TH DH": (0.028, 0.045, 0.006, 0.000, 0.000, 0.000),
    "T D": (0.014, 0.034, 0.008, 0.000, 0.000, 0.000),
    "N": (0.018, 0.038, 0.004, 0.000, 0.000, 0.000),
    "L": (0.026, 0.050, 0.002, 0.000, 0.000, 0.000),
    "S Z": (0.008, 0.034, 0.012, 0.000, 0.000, 0.000),
    "SH ZH CH JH": (0.010, 0.040, -0.040, 0.004, 0.004, -0.014),
    "R": (0.014, 0.030, -0.046, 0.002, 0.002, -0.010),
    "W": (0.016, 0.010, -0.075, 0.003, 0.003, -0.020),
    "Y": (0.018, 0.044, 0.014, 0.000, 0.000, 0.000),
    "K G NG": (0.036, 0.052, 0.000, 0.000, 0.000, 0.000),
    "HH": (0.038, 0.055, 0.000, 0.000, 0.000, 0.000),
    "IY": (0.022, 0.052, 0.022, 0.000, 0.000, 0.002),
    "IH": (0.030, 0.056, 0.014, 0.000, 0.000, 0.000),
    "EH": (0.050, 0.080, 0.010, 0.000, 0.000, 0.000),
    "AE": (0.064, 0.092, 0.010, 0.000, 0.000, 0.000),
    "AA": (0.072, 0.104, 0.000, 0.000, 0.000, 0.000),
    "AO": (0.058, 0.070, -0.044, 0.002, 0.002, -0.010),
    "AH": (0.044, 0.064, 0.000, 0.000, 0.000, 0.000),
    "ER": (0.026, 0.040, -0.030, 0.002, 0.002, -0.006),
    "UH": (0.028, 0.036, -0.042, 0.003, 0.003, -0.012),
    "UW": (0.022, 0.024, -0.068, 0.004, 0.004, -0.018),
    "OW": (0.046, 0.052, -0.058, 0.003, 0.003, -0.016),
}
_UPPER_LIP_SHARE = -0.22  # of the gap: the upper lip rises by about a fifth of the opening
_CORNER_SHARE_OF_JAW, _CORNER_SHARE_OF_WIDTH = 0.30, -0.15

# Dominance, and seconds over which it rises before the sound's held part and falls after it.
_DOMINANCE = {
    "SIL": (0.6, 0.060, 0.070),
    "P B M": (4.0, 0.060, 0.045),
    "F V": (2.5, 0.050, 0.065),
    "TH DH": (0.6, 0.080, 0.060),
    "T D N": (0.45, 0.060, 0.090),
    "L": (0.8, 0.060, 0.090),
    "S Z": (1.2, 0.060, 0.090),
    "SH ZH CH JH": (1.3, 0.090, 0.060),
    "R": (1.3, 0.090, 0.060),
    "W": (1.8, 0.090, 0.100),
    "Y K G NG HH": (0.45, 0.070, 0.060),
    "IY IH EH AE": (1.1, 0.085, 0.065),
    "AA": (2.0, 0.085, 0.065),
    "AH": (0.6, 0.085, 0.065),
    "ER": (1.2, 0.090, 0.060),
    "AO UH UW OW": (1.2, 0.090, 0.110),
}
_HELD_SHARE = 0.46  # of a sound's duration, during which its dominance is full
_REST_DOMINANCE = 0.03  # of the resting mouth, so that far from any sound the mouth rests
_CONTACT_SECONDS = 0.030
_LEVEL_SLOPE_PER_DB, _MIDDLE_LEVEL_DB = 0.027, -12.0
_SMALLEST_FACTOR, _LARGEST_FACTOR = 0.35, 1.6


@dataclass(frozen=True)
class VisemeTable:
    """Per unit, in the order of UNITS: `shapes` [36, 9] in e, `dominance` [36], `before` and `after` [36] in
    seconds.
    """

    shapes: np.ndarray
    dominance: np.ndarray
    before: np.ndarray
    after: np.ndarray

    def with_shapes(self, shapes: np.ndarray) -> "VisemeTable":
        """The same timing with other mouth shapes."""
        return replace(self, shapes=shapes)


def phonetic_table() -> VisemeTable:
    """The table as written down, before any clip was looked at."""
    shapes = np.zeros((len(UNITS), len(MOUTH)))
    for names, (jaw, gap, width, lower_roll, upper_roll, protrude) in _SHAPES.items():
        upper_lip = _UPPER_LIP_SHARE * gap
        corner = _CORNER_SHARE_OF_JAW * jaw + _CORNER_SHARE_OF_WIDTH * width
        for name in names.split():
            shapes[UNIT_INDEX[name]] = (
                *(jaw, gap, width, upper_lip, corner, lower_roll, upper_roll),
                *(0.0, protrude),
            )
    timing = np.zeros((len(UNITS), 3))
    for names, values in _DOMINANCE.items():
        for name in names.split():
            timing[UNIT_INDEX[name]] = values
    return VisemeTable(shapes, timing[:, 0], timing[:, 1], timing[:, 2])


def unit_shares(table: VisemeTable, units: Sequence[TimedUnit], frames: int, lead: float) -> np.ndarray:
    """Share of every unit in every frame's mouth, float64 [frames, 36]; rows sum to at most 1."""
    known = [unit for unit in units if unit.unit in UNIT_INDEX]
    index = np.array([UNIT_INDEX[unit.unit] for unit in known])
    now = (np.arange(frames)[:, None] + 0.5) / FPS + lead
    from_centre = now - np.array([(unit.start + unit.end) / 2 for unit in known])
    held = _HELD_SHARE / 2 * np.array([unit.end - unit.start for unit in known])
    reach = np.where(from_centre < 0, table.before[index], table.after[index])
    distance = np.maximum(np.abs(from_centre) - held, 0.0) / reach
    weights = table.dominance[index] * np.exp(-(distance**2))
    per_unit = np.zeros((frames, len(UNITS)))
    np.add.at(per_unit.T, index, weights.T)
    return per_unit / (per_unit.sum(axis=1, keepdims=True) + _REST_DOMINANCE)


def level_factor(level_db: np.ndarray) -> np.ndarray:
    """How much louder speech opens the mouth further; level in dB against the running reference."""
    factor = 1.0 + _LEVEL_SLOPE_PER_DB * (level_db - _MIDDLE_LEVEL_DB)
    return np.clip(factor, _SMALLEST_FACTOR, _LARGEST_FACTOR)


def contact(units: Sequence[TimedUnit], names: str, frames: int, lead: float) -> np.ndarray:
    """Nearness of each frame to a sound of `names`: 1 within it, falling to 0 over about 50 ms; float64
    [frames].
    """
    now = (np.arange(frames) + 0.5) / FPS + lead
    nearness = np.zeros(frames)
    for name, start, end in units:
        if name in names.split():
            outside = np.maximum(np.abs(now - (start + end) / 2) - (end - start) / 2, 0.0)
            nearness = np.maximum(nearness, np.exp(-((outside / _CONTACT_SECONDS) ** 2)))
    return nearness


def mouth_target(
    table: VisemeTable, units: Sequence[TimedUnit], level_db: np.ndarray, lead: float
) -> np.ndarray:
    """Mouth distances [n, 9] in e for the sounds `units` spoken at level_db [n]."""
    frames = len(level_db)
    mouth = unit_shares(table, units, frames, lead) @ table.shapes
    mouth *= level_factor(level_db)[:, None]
    for names, gap in (("F V", LIP_TO_TEETH_GAP), ("P B M", CONTACT_GAP)):
        near = contact(units, names, frames, lead)
        mouth[:, GAP] += near * np.minimum(gap - mouth[:, GAP], 0.0)
    return mouth
