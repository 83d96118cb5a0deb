"""What less would do: mouths made from the same sound without the networks of the product, or with fewer.

Whatever they learn they learn from the clips that training may see. They are judged as curves of opening,
width and jaw, without being rendered and tracked again, which favours them; only the regressor's mouth is
judged both ways.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from avatar_cli.assets import asset_path
from avatar_cli.evaluation.correlation import correlation
from avatar_cli.evaluation.quality.comparison import LIKENESSES
from avatar_cli.evaluation.quality.curves import curves_of
from avatar_cli.evaluation.quality.drawn import load_portrait
from avatar_cli.evaluation.quality.mouths import mouth_curves
from avatar_cli.evaluation.quality.people import Person
from avatar_cli.evaluation.quality.sound import Sound, hear
from avatar_cli.evaluation.tracks import track_frames, track_video
from avatar_cli.families.portrait.latents import MOUTH, MOUTH_SLICE
from avatar_cli.families.portrait.measures import measure_mouth
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from avatar_cli.families.portrait.training.generation import (
    Networks,
    Performance,
    expected_mouth,
    load_networks,
    perform,
)
from avatar_cli.families.portrait.training.split import TRAINING_CLIPS
from avatar_cli.media.decoding import read_sound

Doubles = NDArray[np.float64]
Mouth = Callable[[Person], NDArray[np.floating]]  # curves [T, 3] as in `mouths.mouth_curves`

# Of `latents.MOUTH`, in the order of `comparison.LIKENESSES`.
_CHANNELS = [MOUTH.index(name) for name in ("gap", "width", "jaw_drop")]
DRAWN_REGRESSOR = "plain regressor, rendered"
_CONTEXT = 2  # frames either side that ridge regression hears
_PENALTIES = (10.0, 30.0, 100.0, 300.0, 1000.0)


@dataclass(frozen=True)
class Lesson:
    """A clip that may teach: what is heard [T, F], and what the mouth does [T, 3] in e."""

    heard: Doubles
    mouth: Doubles
    speech: NDArray[np.bool_]


@dataclass(frozen=True)
class Ridge:
    """A linear map from features [T, F] to the mouth [T, 3]."""

    weights: Doubles
    heard_mean: Doubles
    mouth_mean: Doubles

    def __call__(self, heard: Doubles) -> Doubles:
        """The mouth that is expected with what is heard."""
        return np.asarray((heard - self.heard_mean) @ self.weights + self.mouth_mean)


def baselines(media: Path) -> dict[str, Mouth]:
    """By name, from much to little.

    Args:
        media: Folder with the training clips.
    """
    networks = load_networks(asset_path("portrait/motion_basis.safetensors").parent)
    torch.set_num_threads(1)
    clips = [_training_clip(media / "video" / f"{name}.mpg") for name in TRAINING_CLIPS]
    ridge = fit_ridge([_lesson(bands_around(sound), mouth, sound) for sound, mouth in clips])
    line = fit_ridge([_lesson(_loudness(sound), mouth, sound) for sound, mouth in clips])
    return {
        DRAWN_REGRESSOR: lambda person: drawn_regressor_mouth(networks, person),
        "linear basis": lambda person: linear_basis_mouth(networks, person),
        "plain regressor": lambda person: expected_mouth(networks, person.samples)[:, _CHANNELS],
        "ridge regression": lambda person: ridge(bands_around(_heard(person))),
        "loudness": lambda person: line(_loudness(_heard(person))),
        "still photo": lambda person: np.zeros((len(person.pairing.real), len(LIKENESSES))),
    }


def linear_basis_mouth(networks: Networks, person: Person) -> NDArray[np.float32]:
    """The motion network's latents as the linear basis moves a face, instead of the second network."""
    portrait = load_portrait(person.still, person.picture)
    latents = perform(networks, person.samples, Performance(portrait.tokens))
    displacement = load_motion_basis().displacement(latents)  # against the closed neutral face
    return measure_mouth(displacement)[:, _CHANNELS]


def drawn_regressor_mouth(networks: Networks, person: Person) -> NDArray[np.floating]:
    """The regressor's mouth in the product's own head, drawn and tracked as the product's video is.

    Eyes and head move as the motion network moves them, so that only the mouth is another.
    """
    portrait = load_portrait(person.still, person.picture)
    latents = perform(networks, person.samples, Performance(portrait.tokens))
    mouth = expected_mouth(networks, person.samples)[: len(latents)]
    latents[: len(mouth), MOUTH_SLICE] = mouth
    return mouth_curves(curves_of(track_frames(portrait.draw(latents))))


def fit_ridge(lessons: Sequence[Lesson]) -> Ridge:
    """Ridge regression over all clips; the penalty is the one that serves clips left out in turn best."""

    def skill(penalty: float) -> float:
        scores = []
        for index, lesson in enumerate(lessons):
            taught = solve_ridge([*lessons[:index], *lessons[index + 1 :]], penalty)(lesson.heard)
            scores.append(correlation(taught[:, 0], lesson.mouth[:, 0], lesson.speech))
        return float(np.mean(scores))

    return solve_ridge(lessons, max(_PENALTIES, key=skill))


def solve_ridge(lessons: Sequence[Lesson], penalty: float) -> Ridge:
    """Least squares with `penalty` times the squared weights, features and targets centred."""
    heard = np.concatenate([lesson.heard for lesson in lessons])
    mouth = np.concatenate([lesson.mouth for lesson in lessons])
    x, y = heard - heard.mean(axis=0), mouth - mouth.mean(axis=0)
    weights = np.linalg.solve(x.T @ x + penalty * np.eye(x.shape[1]), x.T @ y)
    return Ridge(weights, heard.mean(axis=0), mouth.mean(axis=0))


def bands_around(sound: Sound) -> Doubles:
    """Log-mels of every frame and two on either side, float64 [T, 5 * 48]."""
    padded = np.pad(sound.bands.astype(np.float64), ((_CONTEXT, _CONTEXT), (0, 0)), mode="edge")
    frames = len(sound.bands)
    return np.concatenate([padded[step : step + frames] for step in range(2 * _CONTEXT + 1)], axis=1)


def _loudness(sound: Sound) -> Doubles:
    return sound.loudness[:, None].astype(np.float64)


def _heard(person: Person) -> Sound:
    return hear(person.samples, len(person.pairing.real))


def _training_clip(path: Path) -> tuple[Sound, Doubles]:
    mouth = mouth_curves(curves_of(track_video(path))).astype(np.float64)
    return hear(read_sound(path), len(mouth)), mouth - mouth.mean(axis=0)


def _lesson(heard: Doubles, mouth: Doubles, sound: Sound) -> Lesson:
    return Lesson(heard, mouth, sound.speech)
