"""Draws the phonetic mouth shapes towards what the training clips show.

With the timing fixed, the model's mouth is linear in the shapes, so the fit is a ridge regression whose
penalty pulls every shape to the one written down. Six clips of three seconds can say how far people open,
spread and round; they cannot say it for each of 36 sounds, hence the strong pull and the sharing within
classes of sounds.
"""

from collections.abc import Sequence

import numpy as np

from avatar_cli.families.portrait.audio_encoder import UNITS
from avatar_cli.families.portrait.latents import MOUTH
from avatar_cli.families.portrait.training.phones import UNIT_INDEX
from avatar_cli.families.portrait.training.spoken_clips import SpokenClip
from avatar_cli.families.portrait.training.visemes import VisemeTable, level_factor, unit_shares

# Sounds that share one correction.
_CLASSES = (
    "SIL",
    "P B M",
    "F V",
    "TH DH T D N L S Z",
    "SH ZH CH JH R ER",
    "W UW UH",
    "AO OW",
    "K G NG HH Y",
    "IY IH",
    "EH AE",
    "AA",
    "AH",
)
_PULL = 6.0  # frames of evidence that the written shape counts as, per class
_LEAD = -0.023  # of the alignments, as for recorded speech
_UNSEEN = ("shift_x",)  # left alone: a mouth shifted to one side belongs to the person, not to the sound


def calibrated(table: VisemeTable, clips: Sequence[SpokenClip]) -> VisemeTable:
    """The table with its shapes corrected class by class."""
    shares = [
        unit_shares(table, clip.units, len(clip.level_db), _LEAD) * level_factor(clip.level_db)[:, None]
        for clip in clips
    ]
    seen = np.concatenate(shares)
    error = np.concatenate([clip.mouth for clip in clips]) - seen @ table.shapes
    membership = np.zeros((len(UNITS), len(_CLASSES)))
    for index, names in enumerate(_CLASSES):
        membership[[UNIT_INDEX[name] for name in names.split()], index] = 1.0
    design = seen @ membership
    normal = design.T @ design + _PULL * np.eye(len(_CLASSES))
    correction = membership @ np.linalg.solve(normal, design.T @ error)
    correction[:, [MOUTH.index(name) for name in _UNSEEN]] = 0.0
    correction[UNIT_INDEX["SIL"]] = 0.0
    return table.with_shapes(table.shapes + correction)
