"""What the sound of a video says about the mouth: how loud the open vowels are, speech, and silence."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.speech_frames import SILENCE_DB, speech_mask
from avatar_cli.evaluation.tracks import TRACK_FPS
from avatar_cli.families.portrait.audio_features import MELS, MELS_PER_FRAME, LogMelStream, band_centres
from avatar_cli.protocol.timing import MODEL_RATE

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]

# The first formant of open vowels: loud there means a lowered jaw. Loudness as a whole also rises with hissed
# consonants, which are spoken with nearly closed teeth.
VOWEL_BAND_HZ = (350.0, 1200.0)
_PIECE = 160_000  # samples: 10 s


@dataclass(frozen=True)
class Sound:
    """A recording in frames of 1/25 s.

    Attributes:
        bands: Log-mels, the mean of each frame's four, float32 [T, 48], see `audio_features`.
        level: Power in dB below full scale, float32 [T].
        speech: bool [T], where somebody speaks.
    """

    bands: Floats
    level: Floats
    speech: Mask

    @property
    def loudness(self) -> Floats:
        """Mean of all bands, float32 [T]."""
        return self.bands.mean(axis=1)

    @property
    def vowels(self) -> Floats:
        """Mean of the bands in which open vowels are loud, float32 [T]."""
        centres = band_centres()
        low, high = VOWEL_BAND_HZ
        return self.bands[:, (centres > low) & (centres < high)].mean(axis=1)

    @property
    def silent(self) -> Mask:
        """Where there is digital silence, or what a lossy encoder leaves of it; bool [T]."""
        return np.asarray(self.level < SILENCE_DB)


def hear(samples: Floats, frames: int) -> Sound:
    """The sound of T frames from mono samples at 16 kHz; silence after their end."""
    edges = [round(frame * MODEL_RATE / TRACK_FPS) for frame in range(frames + 1)]
    heard = np.pad(samples[: edges[-1]], (0, max(0, edges[-1] - len(samples))))
    power = np.array([np.mean(heard[start:stop] ** 2) for start, stop in pairwise(edges)])
    return Sound(
        bands=_bands(heard),
        level=(10 * np.log10(power + 1e-12)).astype(np.float32),
        speech=speech_mask(heard, MODEL_RATE, TRACK_FPS, frames),
    )


def _bands(samples: Floats) -> Floats:
    """Mean log-mels of every frame of 640 samples, float32 [T, 48]; a piece of sound at a time."""
    stream = LogMelStream()
    pieces = [stream.push(samples[start : start + _PIECE]) for start in range(0, len(samples), _PIECE)]
    mels = np.concatenate([*pieces, stream.finish()])
    return mels.reshape(-1, MELS_PER_FRAME, MELS).mean(axis=1)
