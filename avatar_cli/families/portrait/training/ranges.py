"""`python -m avatar_cli.families.portrait.training.ranges`: how far sampled mouths move against people's.

Prints, for every training clip and mouth distance, the range (95th minus 5th percentile over the frames with
speech) of what the product makes of the clip's sound over that of the person in it, and the geometric means.
The gains in `mouth.py` are one over those means, as found without gains.
"""

import argparse
import os
import sys
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from avatar_cli.families.portrait.latents import MOUTH, MOUTH_SLICE
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from avatar_cli.families.portrait.training.clips import load_clips
from avatar_cli.families.portrait.training.generation import load_networks
from avatar_cli.families.portrait.training.heldout import Take, take_of
from avatar_cli.families.portrait.training.split import TRAINING_CLIPS


def range_ratios(take: Take) -> NDArray[np.float64]:
    """Range made over real range, [9], over the frames in which the person speaks."""
    made, real = (_range(latents[take.spoken, MOUTH_SLICE]) for latents in (take.made, take.clip.latents))
    return np.asarray(made / real, np.float64)


def main() -> int:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, default=Path("assets/portrait"))
    parser.add_argument("--cache", type=Path, default=Path("build/training"))
    arguments = parser.parse_args()
    media = os.environ.get("AVATAR_TEST_MEDIA")
    if media is None:
        print("AVATAR_TEST_MEDIA is not set: it must name the folder with the clips", file=sys.stderr)
        return 4
    torch.set_num_threads(1)
    networks, shape = load_networks(arguments.weights), load_motion_basis().shape
    clips = load_clips(Path(media), TRAINING_CLIPS, arguments.cache / "tracks", shape)
    ratios = {clip.name: range_ratios(take_of(networks, clip, shape)) for clip in clips}
    ratios["geometric mean"] = np.exp(np.mean([np.log(found) for found in ratios.values()], axis=0))
    for name, found in ratios.items():
        print(f"{name:24}", *(f"{channel} {ratio:.2f}" for channel, ratio in zip(MOUTH, found, strict=True)))
    return 0


def _range(values: NDArray[np.float32]) -> NDArray[np.float32]:
    low, high = np.quantile(values, (0.05, 0.95), axis=0)
    return np.asarray(high - low, np.float32)


if __name__ == "__main__":
    raise SystemExit(main())
