"""`python -m avatar_cli.families.portrait.training.heldout`: judge the networks on clips never trained on.

The opening of the mouth is compared with that of the real person over the frames in which the person speaks:
correlation at the best lag within two frames, and at that lag with the mouths of all other people. Then what
silence, noise and music do to the mouth.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import torch

from avatar_cli.evaluation.correlation import best_match, correlation
from avatar_cli.evaluation.speech_frames import speech_mask
from avatar_cli.families.portrait.audio_features import SAMPLE_RATE
from avatar_cli.families.portrait.latents import MOUTH
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from avatar_cli.families.portrait.tokens import reference_tokens
from avatar_cli.families.portrait.training.clips import TrackedClip, load_clips
from avatar_cli.families.portrait.training.corpus import heldout_tunes
from avatar_cli.families.portrait.training.generation import (
    Networks,
    Performance,
    expected_mouth,
    load_networks,
    perform,
)
from avatar_cli.families.portrait.training.split import HELDOUT_CLIPS, SOUND_LAG_FRAMES

FPS = Fraction(25)
SAMPLES_PER_FRAME = 640
GAP, WIDTH, JAW = (MOUTH.index(name) for name in ("gap", "width", "jaw_drop"))


@dataclass(frozen=True)
class Take:
    """A clip and what the networks made of its sound; frames in which `spoken` bool [n] is true count."""

    clip: TrackedClip
    made: np.ndarray  # [n, 21]
    expected: np.ndarray  # [n, 9], the audio encoder's mean
    spoken: np.ndarray


@dataclass(frozen=True)
class ClipScore:
    """Correlations with the real mouth, and with the mean of all other people's at the same lag."""

    name: str
    gap: float
    gap_at_lag_0: float
    lag: int
    width: float
    jaw: float
    swapped: float
    encoder_gap: float
    spread: float  # deviation of the gap against the real one


def in_time(samples: np.ndarray, lag_frames: int, frames: int) -> np.ndarray:
    """Sound of `frames` video frames, moved so that it meets the picture; lag > 0: the sound comes late."""
    start = lag_frames * SAMPLES_PER_FRAME
    before = np.zeros(max(0, -start), np.float32)
    moved = np.concatenate([before, samples[max(0, start) :], np.zeros(abs(start), np.float32)])
    wanted = frames * SAMPLES_PER_FRAME
    return np.pad(moved, (0, max(0, wanted - len(moved))))[:wanted].astype(np.float32)


def take_of(networks: Networks, clip: TrackedClip, shape: np.ndarray) -> Take:
    """Let the person of a clip speak the clip's sound."""
    frames = len(clip.latents)
    sound = in_time(clip.audio, SOUND_LAG_FRAMES.get(clip.name, 0), frames)
    tokens = torch.from_numpy(reference_tokens(clip.still, clip.still_landmarks, shape))[None]
    spoken = speech_mask(sound, SAMPLE_RATE, FPS, frames)
    return Take(clip, perform(networks, sound, Performance(tokens)), expected_mouth(networks, sound), spoken)


def score(take: Take, others: Sequence[Take]) -> ClipScore:
    """Score one take; `others` are those of other clips."""
    real, spoken = take.clip.latents, take.spoken
    gap = best_match(take.made[:, GAP], real[:, GAP], spoken)
    swapped = []
    for other in others:
        length = min(len(spoken), len(other.spoken))
        both = spoken[:length] & other.spoken[:length]
        swapped.append(correlation(take.made[:length, GAP], other.clip.latents[:length, GAP], both, gap.lag))
    return ClipScore(
        name=take.clip.name,
        gap=gap.correlation,
        gap_at_lag_0=correlation(take.made[:, GAP], real[:, GAP], spoken),
        lag=gap.lag,
        width=best_match(take.made[:, WIDTH], real[:, WIDTH], spoken).correlation,
        jaw=best_match(take.made[:, JAW], real[:, JAW], spoken).correlation,
        swapped=float(np.mean(swapped)) if swapped else 0.0,
        encoder_gap=best_match(take.expected[:, GAP], real[:, GAP], spoken).correlation,
        spread=float(take.made[spoken, GAP].std() / real[spoken, GAP].std()),
    )


def scores_of(networks: Networks, clips: Sequence[TrackedClip], shape: np.ndarray) -> list[ClipScore]:
    """Score every clip against itself and all others."""
    takes = [take_of(networks, clip, shape) for clip in clips]
    return [score(take, [other for other in takes if other is not take]) for take in takes]


def stillness(networks: Networks, reference: torch.Tensor, media: Path) -> dict[str, float]:
    """95th percentile of the gap's distance from its median, e, while nobody speaks."""
    seconds = 10
    rng = np.random.default_rng(0)
    sounds = {
        "digital silence": np.zeros(16000 * seconds, np.float32),
        "noise at -60 dBFS": (rng.standard_normal(16000 * seconds) * 1e-3).astype(np.float32),
        "noise at -20 dBFS": (rng.standard_normal(16000 * seconds) * 0.1).astype(np.float32),
        "music not trained on": np.concatenate(heldout_tunes(media)).astype(np.float32),
    }
    return {
        name: float(np.quantile(np.abs(gap - np.median(gap)), 0.95))
        for name, sound in sounds.items()
        for gap in [perform(networks, sound, Performance(reference))[:, GAP]]
    }


def main() -> int:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, default=Path("assets/portrait"))
    parser.add_argument("--cache", type=Path, default=Path("build/training"))
    parser.add_argument("--clips", nargs="*", default=HELDOUT_CLIPS)
    arguments = parser.parse_args()
    media = os.environ.get("AVATAR_TEST_MEDIA")
    if media is None:
        print("AVATAR_TEST_MEDIA is not set: it must name the folder with the clips", file=sys.stderr)
        return 4
    torch.set_num_threads(1)
    networks = load_networks(arguments.weights)
    shape = load_motion_basis().shape
    clips = load_clips(Path(media), arguments.clips, arguments.cache / "tracks", shape)
    scores = scores_of(networks, clips, shape)
    tokens = torch.from_numpy(reference_tokens(clips[0].still, clips[0].still_landmarks, shape))[None]
    names = ("gap", "gap_at_lag_0", "width", "jaw", "swapped", "encoder_gap", "spread")
    report = {
        "clips": [{key: _rounded(value) for key, value in asdict(clip).items()} for clip in scores],
        "mean": {name: _rounded(float(np.mean([getattr(clip, name) for clip in scores]))) for name in names},
        "still": stillness(networks, tokens, Path(media)),
    }
    print(json.dumps(report, indent=1))
    return 0


def _rounded(value: str | float) -> str | float:
    return round(value, 3) if isinstance(value, float) else value


if __name__ == "__main__":
    raise SystemExit(main())
