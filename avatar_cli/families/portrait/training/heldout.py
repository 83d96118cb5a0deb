"""`python -m avatar_cli.families.portrait.training.heldout`: judge the networks on clips that training never
saw.

The opening of the mouth is compared with that of the real person: correlation at the best lag within two
frames, for the clip's own sound and for the sound of another clip; then what silence, noise and music do to
the mouth.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

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

FPS = 25
SAMPLES_PER_FRAME = 640
LARGEST_LAG = 2
GAP, WIDTH, JAW = (MOUTH.index(name) for name in ("gap", "width", "jaw_drop"))


@dataclass(frozen=True)
class ClipScore:
    """One clip: correlations with the real mouth; `swapped` with the sound of the next clip."""

    name: str
    gap: float
    lag: int
    width: float
    jaw: float
    swapped: float
    encoder_gap: float
    spread: float  # deviation of the gap against the real one


def in_time(samples: np.ndarray, lag_frames: int, frames: int) -> np.ndarray:
    """Sound of `frames` video frames, moved so that it meets the picture; lag > 0: the sound comes late."""
    shifted = np.roll(samples, -lag_frames * SAMPLES_PER_FRAME)
    if lag_frames > 0:
        shifted[-lag_frames * SAMPLES_PER_FRAME :] = 0
    elif lag_frames < 0:
        shifted[: -lag_frames * SAMPLES_PER_FRAME] = 0
    wanted = frames * SAMPLES_PER_FRAME
    return np.pad(shifted, (0, max(0, wanted - len(shifted))))[:wanted].astype(np.float32)


def best_correlation(real: np.ndarray, made: np.ndarray) -> tuple[float, int]:
    """Highest correlation of two tracks over lags within two frames, and that lag (made later: positive)."""
    scores = {}
    for lag in range(-LARGEST_LAG, LARGEST_LAG + 1):
        first, second = (
            (real, made) if lag == 0 else (real[:-lag], made[lag:]) if lag > 0 else (real[-lag:], made[:lag])
        )
        scores[lag] = float(np.corrcoef(first, second)[0, 1]) if second.std() > 0 else 0.0
    lag = max(scores, key=lambda key: scores[key])
    return scores[lag], lag


def score_clips(networks: Networks, clips: Sequence[TrackedClip]) -> list[ClipScore]:
    """Score every clip."""
    shape = load_motion_basis().shape
    sounds = [in_time(clip.audio, SOUND_LAG_FRAMES.get(clip.name, 0), len(clip.latents)) for clip in clips]
    scores = []
    for index, clip in enumerate(clips):
        tokens = torch.from_numpy(reference_tokens(clip.still, clip.still_landmarks, shape))[None]
        performance = Performance(tokens)
        made = perform(networks, sounds[index], performance)
        other = np.resize(sounds[(index + 1) % len(sounds)], len(sounds[index]))
        swapped = perform(networks, other, performance)
        real = clip.latents
        gap, lag = best_correlation(real[:, GAP], made[:, GAP])
        mean = expected_mouth(networks, sounds[index])[: len(real)]
        scores.append(
            ClipScore(
                name=clip.name,
                gap=gap,
                lag=lag,
                width=best_correlation(real[:, WIDTH], made[:, WIDTH])[0],
                jaw=best_correlation(real[:, JAW], made[:, JAW])[0],
                swapped=best_correlation(real[:, GAP], swapped[:, GAP])[0],
                encoder_gap=best_correlation(real[:, GAP], mean[:, GAP])[0],
                spread=float(made[:, GAP].std() / real[:, GAP].std()),
            )
        )
    return scores


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
    clips = load_clips(Path(media), arguments.clips, arguments.cache / "tracks", load_motion_basis().shape)
    scores = score_clips(networks, clips)
    first = torch.from_numpy(
        reference_tokens(clips[0].still, clips[0].still_landmarks, load_motion_basis().shape)
    )
    means = {
        name: round(float(np.mean([getattr(score, name) for score in scores])), 3)
        for name in ("gap", "width", "jaw", "swapped", "encoder_gap", "spread")
    }
    report = {
        "clips": [asdict(score) for score in scores],
        "mean": means,
        "still": stillness(networks, first[None], Path(media)),
    }
    print(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
