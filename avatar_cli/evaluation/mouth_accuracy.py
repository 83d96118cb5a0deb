"""Does the rendered mouth open when the real person's mouth did?"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.command import Render, render
from avatar_cli.evaluation.correlation import Match, best_match, correlation
from avatar_cli.evaluation.held_out import SECONDS, Clip, track_clip
from avatar_cli.evaluation.speech_frames import speech_mask
from avatar_cli.evaluation.tracks import TRACK_FPS, FaceTrack, track_video
from avatar_cli.media.decoding import extract_wav, read_sound
from avatar_cli.protocol.timing import MODEL_RATE

RENDER_SIZE = "360p"


@dataclass(frozen=True)
class Pair:
    """A real person and the video that was rendered from one still and the sound of the same recording.

    Attributes:
        clip: The recording.
        real: Lip gap of the person over T frames, float [T], e.
        rendered: Lip gap of the rendered video, float [T'], e.
        speech: bool [T], frames in which the person speaks.
    """

    clip: Clip
    real: NDArray[np.floating]
    rendered: NDArray[np.floating]
    speech: NDArray[np.bool_]


@dataclass(frozen=True)
class Swapped:
    """A rendered video against the real mouth of somebody who says something else.

    Attributes:
        rendered: Whose speech was rendered.
        real: Whose mouth it is compared with.
        same_lag: Correlation at the lag that fitted the speaker's own mouth best.
        best_lag: The highest correlation of all lags; chance alone makes it positive.
    """

    rendered: str
    real: str
    same_lag: float
    best_lag: float


def make_pair(clip: Clip, recording: Path, folder: Path) -> Pair:
    """Renders a recording's sound onto a still of it and tracks both.

    Args:
        clip: What is known of the recording.
        recording: Its file.
        folder: For the still, the sound, the video and its report.
    """
    still, speech = folder / f"{clip.name}.png", folder / f"{clip.name}.wav"
    real, image = track_clip(recording)
    cv2.imwrite(str(still), cv2.cvtColor(image, cv2.COLOR_RGB2BGR))
    # The sound is moved to where the mouth is, so that rendered frame t belongs to real frame t.
    start, seconds = clip.lag / TRACK_FPS, len(real.seen) / TRACK_FPS
    extract_wav(recording, speech, start=float(start), seconds=float(seconds))
    options = ("--size", RENDER_SIZE, "--fps", str(TRACK_FPS))
    done = render(Render(still, speech, folder / f"{clip.name}.mp4", options))
    return _pair(clip, real, track_video(done.output, seconds=SECONDS), speech)


def _pair(clip: Clip, real: FaceTrack, rendered: FaceTrack, speech: Path) -> Pair:
    spoken = speech_mask(read_sound(speech), MODEL_RATE, TRACK_FPS, len(real.seen))
    return Pair(clip, real.opening, rendered.opening, spoken & real.seen)


def matched(pair: Pair) -> Match:
    """The rendered against the real mouth of the same recording, best lag within two frames."""
    return best_match(pair.rendered, pair.real, pair.speech)


def in_step(pair: Pair) -> float:
    """The same at lag 0."""
    return correlation(pair.rendered, pair.real, pair.speech)


def swapped(pairs: Sequence[Pair]) -> list[Swapped]:
    """Every rendered video against every other person's mouth, over the frames in which both speak.

    The lag stays that of the matched comparison: with the best of five lags even two real people who say
    different things seem to agree (+0.2 in the mean over these recordings, 0.0 at a fixed lag).
    """
    results = []
    for rendered in pairs:
        lag = matched(rendered).lag
        for real in pairs:
            if real is rendered:
                continue
            length = min(len(rendered.speech), len(real.speech))
            both = rendered.speech[:length] & real.speech[:length]
            curves = rendered.rendered[:length], real.real[:length]
            same_lag, best_lag = correlation(*curves, both, lag), best_match(*curves, both).correlation
            results.append(Swapped(rendered.clip.name, real.clip.name, same_lag, best_lag))
    return results
