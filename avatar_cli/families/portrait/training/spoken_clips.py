"""The training clips with the times of their sounds: tracked motion beside what was said."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from avatar_cli.families.portrait.latents import MOUTH_SLICE
from avatar_cli.families.portrait.training.clips import TrackedClip
from avatar_cli.families.portrait.training.corpus import Example, examples_of, loudness
from avatar_cli.families.portrait.training.phones import TimedUnit, from_arpabet
from avatar_cli.families.portrait.training.speech_recorded import LEAD
from avatar_cli.families.portrait.training.utterance import Utterance, to_int16
from avatar_cli.families.portrait.training.visemes import GAP

_WIDE_SHARE = 0.9  # quantile of the gap that says how far a person opens the mouth
_USUAL_OPENING = 0.115  # e; that quantile in the viseme table's own motion
_SMALLEST_SCALE, _LARGEST_SCALE = 0.6, 2.0


@dataclass(frozen=True)
class SpokenClip:
    """A tracked clip of n frames: sounds, loudness [n] in dB, and how much larger than usual this mouth
    opens.
    """

    clip: TrackedClip
    units: tuple[TimedUnit, ...]
    level_db: np.ndarray
    mouth_scale: float

    @property
    def mouth(self) -> np.ndarray:
        """Tracked mouth distances [n, 9] in e, as a person of usual opening would have made them."""
        scaled: np.ndarray = self.clip.latents[:, MOUTH_SLICE] / self.mouth_scale
        return scaled

    def utterance(self) -> Utterance:
        """The clip's sound."""
        return Utterance(to_int16(self.clip.audio), self.units, self.clip.name, LEAD)


def spoken_clips(clips: Sequence[TrackedClip], media: Path) -> list[SpokenClip]:
    """Join clips of the GRID corpus with the alignments beside them."""
    alignments = json.loads((media / "video" / "grid_alignments.json").read_text("utf-8"))
    return [_spoken(clip, alignments[clip.name.split("_")[1]]["phones"]) for clip in clips]


def _spoken(clip: TrackedClip, phones: list[tuple[str, float, float]]) -> SpokenClip:
    frames = len(clip.latents)
    level = np.resize(loudness(clip.audio), frames)
    opening = np.quantile(clip.latents[:, MOUTH_SLICE][:, GAP], _WIDE_SHARE)
    scale = float(np.clip(opening / _USUAL_OPENING, _SMALLEST_SCALE, _LARGEST_SCALE))
    return SpokenClip(clip, tuple(from_arpabet(phones)), level, scale)


def clip_examples(
    clips: Sequence[SpokenClip], copies: int, rng: np.random.Generator
) -> list[tuple[SpokenClip, Example]]:
    """Disturbed copies of the clips' sound, without added pauses: frames stay with the tracked ones."""
    utterances = [clip.utterance() for clip in clips]
    made = examples_of(utterances, copies, rng, longest_pause=0.0)
    return [(clips[index % len(clips)], example) for index, example in enumerate(made)]
