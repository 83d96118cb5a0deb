"""`python -m avatar_cli.families.portrait.training.reading`: how the landmark network reads drawn faces.

Prints the matrix from which the shares in `lift.py` are taken, and how much of a gaze is read (the decoder's
`expression.py` draws vertical gaze larger), to be looked at when the decoder changes.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.decoder.renderer import PortraitRenderer
from avatar_cli.families.portrait.latents import CHANNELS, MOUTH, MOUTH_SLICE
from avatar_cli.families.portrait.measures import measure_mouth, measure_upper_face
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from avatar_cli.families.portrait.person_mask import PersonMasker
from avatar_cli.families.portrait.reference import PortraitReference, encode_reference
from avatar_cli.families.portrait.tracker import FaceTracker
from avatar_cli.families.portrait.training.clips import load_clips, remove_pose, track_frames
from avatar_cli.families.portrait.training.split import TRAINING_CLIPS
from avatar_cli.media.background import load_background
from avatar_cli.media.image_in import Photo, load_photo
from avatar_cli.protocol.job import Fit, Picture

Floats = NDArray[np.float32]

PORTRAITS = (
    "p01_astronaut_smile_teeth.png",
    "p02_grace_hopper_glasses_closed.jpg",
    "p03_man_official_dark_skin_teeth.jpg",
    "p08_man_darkskin_smile.jpg",
    "p21_mona_lisa.jpg",
    "p24_gogol_painting.png",
)
MOUTHS_OF_A_FACE = 60
SPREAD = 0.4  # s.d. of every distance that is added at random to the mouths of clips
PENALTY = 0.1  # ridge penalty on standardised distances
SEED = 0
GAZE = 0.2  # iris radii
_PICTURE = Picture(width=640, height=360, fps=Fraction(25), fit=Fit.CROP, background="black", face=None)
_GAP = CHANNELS.index("gap")


@dataclass(frozen=True)
class Reading:
    """Mouths drawn onto one photo, head still: distances [n, 9] against the photo, drawn and read."""

    drawn: Floats
    read: Floats


def read_drawn_mouths(reference: PortraitReference, mouths: NDArray) -> Reading:
    """Draws mouths [n, 9] (against the closed neutral mouth) by the linear basis and tracks the pictures."""
    scene = load_background(_PICTURE.background, _PICTURE.width, _PICTURE.height)
    renderer, basis = PortraitRenderer(reference, scene), load_motion_basis()
    latents = np.repeat(reference.rest[None], len(mouths) + 1, axis=0)
    latents[1:, MOUTH_SLICE] = mouths
    relative = latents - reference.rest
    frames = [
        renderer.render(mesh, frame)
        for mesh, frame in zip(basis.displacement(relative), latents, strict=True)
    ]
    landmarks, _ = track_frames(frames)
    read = measure_mouth(remove_pose(landmarks, basis.shape)[0])
    return Reading(relative[1:, MOUTH_SLICE], read[1:] - read[0])


def read_drawn_gaze(reference: PortraitReference) -> dict[str, float]:
    """Share that is read of a gaze asked for in `latents`, mean of both directions, by channel."""
    scene = load_background(_PICTURE.background, _PICTURE.width, _PICTURE.height)
    renderer, basis = PortraitRenderer(reference, scene), load_motion_basis()
    latents = np.repeat(reference.rest[None], 4, axis=0)
    for channel, pair in (("gaze_x", latents[:2]), ("gaze_y", latents[2:])):
        pair[:, CHANNELS.index(channel)] += np.array([-GAZE, GAZE], np.float32)
    still = np.zeros_like(basis.shape)
    landmarks, _ = track_frames([renderer.render(still, frame) for frame in latents])
    read = measure_upper_face(remove_pose(landmarks, basis.shape)[0])
    span = 2 * GAZE
    return {
        "gaze_x": float(read.gaze_x[1] - read.gaze_x[0]) / span,
        "gaze_y": float(read.gaze_y[3] - read.gaze_y[2]) / span,
    }


def fit_reading(readings: Sequence[Reading], penalty: float) -> NDArray[np.float64]:
    """Matrix [read, drawn] [9, 9] of all readings about their means, drawn toward the identity."""
    drawn = np.concatenate([one.drawn - one.drawn.mean(axis=0) for one in readings]).astype(np.float64)
    read = np.concatenate([one.read - one.read.mean(axis=0) for one in readings])
    scale = drawn.std(axis=0)
    x, error = drawn / scale, (read - drawn) / scale
    gram = x.T @ x / len(x) + penalty * np.eye(len(scale))
    change = np.linalg.solve(gram, x.T @ error / len(x))
    return np.asarray(np.eye(len(scale)) + (change * scale / scale[:, None]).T)


def main() -> int:
    """Draws mouths of the clips, and gaze, onto stills of the clips and portraits; prints what is read."""
    folder = os.environ.get("AVATAR_TEST_MEDIA")
    if folder is None:
        print(
            "AVATAR_TEST_MEDIA is not set: it must name the folder with video and portraits", file=sys.stderr
        )
        return 4
    media, rng = Path(folder), np.random.default_rng(SEED)
    clips = load_clips(media, TRAINING_CLIPS, Path("build/training/tracks"), load_motion_basis().shape)
    spoken = np.concatenate([clip.latents[:, MOUTH_SLICE] for clip in clips])
    photos = [Photo(Path(clip.name), clip.still, opacity=None) for clip in clips]
    photos += [load_photo(media / "portraits" / name) for name in PORTRAITS]
    tracker, masker = FaceTracker(), PersonMasker()
    scene = load_background(_PICTURE.background, _PICTURE.width, _PICTURE.height)
    readings, gazes = [], []
    for photo in photos:
        mouths = spoken[rng.integers(len(spoken), size=MOUTHS_OF_A_FACE)]
        mouths = mouths + rng.normal(0, SPREAD, mouths.shape) * spoken.std(axis=0)
        mouths[:, _GAP] = np.maximum(mouths[:, _GAP], 0)
        reference = encode_reference(photo, scene, _PICTURE, tracker, masker)
        readings.append(read_drawn_mouths(reference, mouths))
        gazes.append(read_drawn_gaze(reference))
    for name, row in zip(MOUTH, fit_reading(readings, PENALTY), strict=True):
        print(name, *(f"{other} {share:.2f}" for other, share in zip(MOUTH, row, strict=True)))
    for channel in gazes[0]:
        print(channel, f"{np.mean([gaze[channel] for gaze in gazes]):.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
