"""Speech from espeak-ng with the time of every phoneme event; robotic, but of any number of speakers.

Needs the shared library libespeak-ng 1.51 (Debian: libespeak-ng1).
"""

import ctypes
import ctypes.util
import random
from collections.abc import Iterator

import numpy as np
import soxr

from avatar_cli.families.portrait.audio_features import SAMPLE_RATE
from avatar_cli.families.portrait.training import sentences
from avatar_cli.families.portrait.training.phones import TimedUnit, from_ipa_event, join_silences, scaled
from avatar_cli.families.portrait.training.utterance import Utterance, to_int16

LEAD = 0.025
_AUDIO_OUTPUT_SYNCHRONOUS = 2
_PHONEME_EVENTS_IN_IPA = 1 | 2
_EVENT_END_OF_LIST = 0
_EVENT_PHONEME = 7
_PARAMETER_RATE, _PARAMETER_PITCH, _PARAMETER_RANGE = 1, 3, 4
_ACCENTS = ("en-us", "en-gb", "en-gb-scotland", "en-us")
_VOICE_VARIANTS = (
    "",
    "+f1",
    "+f2",
    "+f3",
    "+f4",
    "+m1",
    "+m2",
    "+m3",
    "+m4",
    "+m5",
    "+m7",
    "+croak",
    "+whisper",
)


class _EventId(ctypes.Union):
    _fields_ = (("number", ctypes.c_int), ("name", ctypes.c_char_p), ("string", ctypes.c_char * 8))


class _Event(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", _EventId),
    )


_Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event)
)


class Espeak:
    """The library, which speaks into memory."""

    def __init__(self) -> None:
        name = ctypes.util.find_library("espeak-ng") or "libespeak-ng.so.1"
        self._library = ctypes.CDLL(name)
        self.rate: int = self._library.espeak_Initialize(
            _AUDIO_OUTPUT_SYNCHRONOUS, 0, None, _PHONEME_EVENTS_IN_IPA
        )
        self._pieces: list[np.ndarray] = []
        self._phonemes: list[tuple[float, str]] = []
        self._callback = _Callback(self._receive)  # the library keeps only a pointer to it
        self._library.espeak_SetSynthCallback(self._callback)

    def speak(
        self, text: str, voice: str, rate: int, pitch: int, pitch_range: int
    ) -> tuple[np.ndarray, list[TimedUnit]]:
        """Speak a text: float32 samples at `self.rate`, and its timed units."""
        self._pieces.clear()
        self._phonemes.clear()
        self._library.espeak_SetVoiceByName(voice.encode())
        for parameter, value in (
            (_PARAMETER_RATE, rate),
            (_PARAMETER_PITCH, pitch),
            (_PARAMETER_RANGE, pitch_range),
        ):
            self._library.espeak_SetParameter(parameter, value, 0)
        encoded = text.encode()
        self._library.espeak_Synth(encoded, len(encoded) + 1, 0, 1, 0, 1, None, None)
        self._library.espeak_Synchronize()
        samples = np.concatenate(self._pieces).astype(np.float32) / 32768
        ends = [start for start, _ in self._phonemes[1:]] + [len(samples) / self.rate]
        units: list[TimedUnit] = []
        for (start, ipa), end in zip(self._phonemes, ends, strict=True):
            if end > start:
                units += from_ipa_event(ipa, start, end)
        return samples, join_silences(units)

    def _receive(
        self, wave: "ctypes._Pointer[ctypes.c_short]", count: int, events: "ctypes._Pointer[_Event]"
    ) -> int:
        if wave and count > 0:
            self._pieces.append(np.ctypeslib.as_array(wave, (count,)).copy())
        index = 0
        while events[index].type != _EVENT_END_OF_LIST:
            event = events[index]
            if event.type == _EVENT_PHONEME:
                self._phonemes.append(
                    (event.audio_position / 1000, event.id.string.decode("utf-8", "replace"))
                )
            index += 1
        return 0


def generate(rng: random.Random) -> Iterator[Utterance]:
    """Endless utterances of mixed voices, tempi and languages."""
    espeak = Espeak()
    while True:
        foreign = rng.random() < 0.3
        language = rng.choice(sentences.LANGUAGES if foreign else _ACCENTS)
        text = sentences.in_language(language, rng) if foreign else sentences.english(rng)
        samples, units = espeak.speak(
            text,
            language + rng.choice(_VOICE_VARIANTS),
            rate=rng.randint(120, 210),
            pitch=rng.randint(20, 80),
            pitch_range=rng.randint(20, 80),
        )
        stretch = rng.choice([1.0, rng.uniform(0.88, 1.15)])
        resampled = soxr.resample(samples, espeak.rate * stretch, SAMPLE_RATE)
        yield Utterance(to_int16(resampled), tuple(scaled(units, 1 / stretch)), "espeak", LEAD)
