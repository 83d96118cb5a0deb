"""Speech made ready for training: disturbed copies as log-mels, with sound times and the clean loudness."""

import pickle
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from avatar_cli.families.portrait.audio_features import MELS_PER_FRAME, SAMPLE_RATE, frame_level, log_mels
from avatar_cli.families.portrait.training.augmentation import augment
from avatar_cli.families.portrait.training.nonspeech import music, noise
from avatar_cli.families.portrait.training.phones import TimedUnit, join_silences, scaled
from avatar_cli.families.portrait.training.utterance import Utterance
from avatar_cli.media.decoding import read_sound

_LONGEST_PAUSE = 0.7  # seconds of digital silence before and after
_LEVEL_SMOOTHING_FRAMES = 11  # mel frames
_LOWEST_LEVEL_DB, _HIGHEST_LEVEL_DB = -35.0, 6.0
_NONSPEECH_SHARE = 0.07
# Tunes from which every odd pair of seconds is for training, and every even one for judging.
_MUSIC_FILES = ("s43_music_galway.m4a", "s46_music_ambient_44k_stereo.flac")
_MUSIC_PIECE_SECONDS = 2.0


@dataclass(frozen=True)
class Example:
    """One disturbed utterance of n video frames.

    `mels` float16 [4n, 48]; `level_db` float32 [n], loudness of the clean speech against its running
    reference; `units` with the times that `mels` has; `lead` as in Utterance.
    """

    mels: np.ndarray
    level_db: np.ndarray
    units: tuple[TimedUnit, ...]
    lead: float
    source: str

    @property
    def frames(self) -> int:
        """Number of video frames."""
        return len(self.level_db)


def loudness(samples: np.ndarray) -> np.ndarray:
    """Level in dB against the running reference, smoothed over 110 ms; float samples at 16 kHz to float32 [n
    frames].
    """
    level = np.clip(
        frame_level(log_mels(np.asarray(samples, np.float32))), _LOWEST_LEVEL_DB, _HIGHEST_LEVEL_DB
    )
    kernel = np.hanning(_LEVEL_SMOOTHING_FRAMES)
    padded = np.pad(level, _LEVEL_SMOOTHING_FRAMES // 2, mode="edge")
    smooth = np.convolve(padded, kernel / kernel.sum(), mode="valid")
    return smooth.reshape(-1, MELS_PER_FRAME).mean(axis=1).astype(np.float32)


def examples_of(
    utterances: Sequence[Utterance],
    copies: int,
    rng: np.random.Generator,
    longest_pause: float = _LONGEST_PAUSE,
) -> Iterable[Example]:
    """`copies` disturbed examples of every utterance, each between two pauses of up to `longest_pause`
    seconds.
    """
    babble = [utterance.samples for utterance in utterances]
    for _ in range(copies):
        for utterance in utterances:
            before, after = rng.uniform(0, longest_pause, 2)
            clean = np.concatenate(
                [
                    np.zeros(int(before * SAMPLE_RATE)),
                    utterance.samples / 32768.0,
                    np.zeros(int(after * SAMPLE_RATE)),
                ]
            )
            units = [
                TimedUnit("SIL", 0.0, before),
                *scaled(utterance.units, 1.0, before),
                TimedUnit("SIL", before + utterance.seconds, len(clean) / SAMPLE_RATE),
            ]
            yield Example(
                mels=log_mels(augment(clean, babble, rng)).astype(np.float16),
                level_db=loudness(clean),
                units=tuple(join_silences(units)),
                lead=utterance.lead,
                source=utterance.source,
            )


def wordless_examples(count: int, tunes: Sequence[np.ndarray], rng: np.random.Generator) -> Iterable[Example]:
    """Examples in which the mouth stays closed: silence, noise, invented and real tunes."""
    for _ in range(count):
        length = int(rng.uniform(2, 6) * SAMPLE_RATE)
        kind = rng.random()
        gain = 10 ** (rng.uniform(-45, 0) / 20) * 0.1
        if kind < 0.15:
            sound = np.zeros(length)
        elif kind < 0.4:
            sound = noise(length, rng) * gain
        elif kind < 0.75 or not tunes:
            sound = music(length, rng) * gain
        else:
            sound = augment(tunes[int(rng.integers(len(tunes)))], tunes, rng)
        mels = log_mels(np.asarray(sound, np.float32))
        frames = len(mels) // MELS_PER_FRAME
        yield Example(
            mels=mels.astype(np.float16),
            level_db=np.full(frames, _LOWEST_LEVEL_DB, np.float32),
            units=(TimedUnit("SIL", 0.0, len(sound) / SAMPLE_RATE),),
            lead=0.0,
            source="wordless",
        )


def training_tunes(media: Path) -> list[np.ndarray]:
    """The pieces of the recorded tunes that training may hear."""
    return [piece for index, piece in _pieces(media) if index % 2 == 1]


def heldout_tunes(media: Path) -> list[np.ndarray]:
    """The pieces of the recorded tunes that training never hears."""
    return [piece for index, piece in _pieces(media) if index % 2 == 0]


def _pieces(media: Path) -> Iterable[tuple[int, np.ndarray]]:
    length = int(_MUSIC_PIECE_SECONDS * SAMPLE_RATE)
    for name in _MUSIC_FILES:
        samples = read_sound(media / "speech" / name)
        for index in range(len(samples) // length):
            yield index, samples[index * length : (index + 1) * length]


def build_corpus(
    path: Path, utterances: Sequence[Utterance], copies: int, media: Path, seed: int
) -> list[Example]:
    """Examples of utterances and of wordless sounds, kept in the file `path` between runs."""
    if not path.exists():
        rng = np.random.default_rng(seed)
        examples = list(examples_of(utterances, copies, rng))
        wordless = int(_NONSPEECH_SHARE * len(examples))
        examples += wordless_examples(wordless, training_tunes(media), rng)
        partial = path.with_suffix(".partial")
        with partial.open("wb") as file:
            pickle.dump(examples, file, protocol=5)
        partial.replace(path)
    with path.open("rb") as file:
        loaded: list[Example] = pickle.load(file)
    return loaded
