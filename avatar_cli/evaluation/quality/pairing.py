"""A rendered video and the recording of the real person, frame beside frame."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.quality.curves import FaceCurves
from avatar_cli.evaluation.quality.observation import Observation
from avatar_cli.protocol.errors import InputError

FEWEST_FRAMES = 25  # with speech, after which a comparison means something


@dataclass(frozen=True)
class Pairing:
    """The frames that both videos have.

    Attributes:
        rendered: Curves of T frames.
        real: Curves of T frames: frame t was said with the sound of rendered frame t.
        speech: bool [T], in which somebody speaks and the real face was found.
    """

    rendered: FaceCurves
    real: FaceCurves
    speech: NDArray[np.bool_]


def pair(video: Observation, truth: Observation, lag: int) -> Pairing:
    """Puts the mouths beside each other.

    Args:
        video: Rendered from the sound of the recording.
        truth: The recording.
        lag: Frames by which its sound lies behind its picture, so that rendered frame t belongs to the
            recording's frame t - lag.

    Raises:
        InputError: the video has no sound, or hardly any speech falls into what both show.
    """
    if video.sound is None:
        raise InputError(
            f"{video.path} has no sound, so its mouth cannot be compared: give one with its speech."
        )
    start, other_start = max(0, lag), max(0, -lag)
    frames = min(len(video.sight.curves) - start, len(truth.sight.curves) - other_start)
    rendered = video.sight.curves.part(slice(start, start + max(0, frames)))
    real = truth.sight.curves.part(slice(other_start, other_start + max(0, frames)))
    speech = video.sound.speech[start : start + max(0, frames)] & real.seen
    if speech.sum() < FEWEST_FRAMES:
        raise InputError(
            f"{video.path} and {truth.path} share only {int(speech.sum())} frames with speech, of "
            f"{FEWEST_FRAMES} at least: give the recording that the video was rendered from."
        )
    return Pairing(rendered, real, speech)
