"""Speech sounds as 36 units, and the maps from IPA and ARPAbet to them.

A timed unit is (unit, start, end) in seconds. Diphthongs are split in two, because the mouth moves from one
shape to another within them; length and stress marks lengthen their neighbour.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from avatar_cli.families.portrait.audio_encoder import UNITS

UNIT_INDEX = {unit: index for index, unit in enumerate(UNITS)}
UNKNOWN = "?"  # a stretch whose sound is not known; it is left out of every loss
IGNORED_LABEL = -100


class TimedUnit(NamedTuple):
    """One speech sound with its time, in seconds from the beginning of the recording."""

    unit: str
    start: float
    end: float


_IPA_GROUPS = {
    "P": "p",
    "B": "b",
    "M": "mɱ",
    "F": "fɸ",
    "V": "vʋβ",
    "TH": "θ",
    "DH": "ð",
    "T": "tʈʔ",
    "D": "dɖ",
    "N": "nɲɳ",
    "L": "lɫʎɭrɾ",
    "S": "sç",
    "Z": "z",
    "SH": "ʃʂɕ",
    "ZH": "ʒʐʝ",
    "CH": "ʧʨʦ",
    "JH": "ʤʥʣ",
    "R": "ɹɻ",
    "W": "wʍɥ",
    "Y": "j",
    "K": "kqc",
    "G": "gɡɟɣ",
    "NG": "ŋɴ",
    "HH": "hxχɦʁ",
    "IY": "i",
    "IH": "ɪɨᵻɯ",
    "EH": "eɛ",
    "AE": "æ",
    "AA": "aɑɐɒ",
    "AO": "ɔ",
    "AH": "əʌɤ",
    "ER": "ɜɝɚ",
    "UH": "ʊ",
    "UW": "uyʉʏ",
    "OW": "oøœ",
}
IPA_UNITS = {letter: unit for unit, letters in _IPA_GROUPS.items() for letter in letters}

# First unit, second unit, share of the duration that belongs to the first.
_DIPHTHONGS = {
    "AY": ("AA", "IH", 0.6),
    "AW": ("AA", "UW", 0.55),
    "EY": ("EH", "IY", 0.55),
    "OY": ("OW", "IH", 0.5),
    "OW": ("OW", "UW", 0.6),
}
_ARPABET_VARIANTS = {
    "AX": "AH",
    "AXR": "ER",
    "IX": "IH",
    "UX": "UW",
    "DX": "D",
    "EL": "L",
    "EM": "M",
    "EN": "N",
    "PAU": "SIL",
    "BR": "SIL",
    "H#": "SIL",
    "": "SIL",
}
_PAUSE_LETTERS = ",.!?;:—…"
_LONG_GAP_SECONDS = 0.12


def from_arpabet(names: Iterable[tuple[str, float, float]]) -> list[TimedUnit]:
    """Units of ARPAbet phones (name, start, end); stress digits and decoder noise marks are understood."""
    units: list[TimedUnit] = []
    for name, start, end in names:
        phone = name.upper().rstrip("012")
        phone = _ARPABET_VARIANTS.get(phone, phone)
        if phone in _DIPHTHONGS:
            first, second, share = _DIPHTHONGS[phone]
            middle = start + share * (end - start)
            units += [TimedUnit(first, start, middle), TimedUnit(second, middle, end)]
        elif phone in UNIT_INDEX:
            units.append(TimedUnit(phone, start, end))
        else:
            units.append(TimedUnit("SIL" if phone.startswith(("+", "<")) else UNKNOWN, start, end))
    return join_silences(units)


def fold_affricates(ipa: str) -> str:
    """IPA in which the two-letter affricates are single letters."""
    return ipa.replace("tʃ", "ʧ").replace("dʒ", "ʤ").replace("ts", "ʦ")


def from_ipa_letters(letters: str, seconds: Sequence[float]) -> list[TimedUnit]:
    """Units of an IPA string with one duration per letter."""
    units: list[TimedUnit] = []
    stress_start: float | None = None
    now = 0.0
    for letter, duration in zip(letters, seconds, strict=True):
        end = now + duration
        if letter in "ˈˌ":
            stress_start = now if stress_start is None else stress_start
        elif letter in IPA_UNITS:
            units.append(TimedUnit(IPA_UNITS[letter], now if stress_start is None else stress_start, end))
            stress_start = None
        elif letter in _PAUSE_LETTERS or duration > _LONG_GAP_SECONDS or not units:
            units.append(TimedUnit("SIL", now, end))
            stress_start = None
        else:  # a length mark, a tie, or the short gap between two words belongs to the sound before it
            units[-1] = units[-1]._replace(end=end)
        now = end
    return join_silences(units)


def from_ipa_event(ipa: str, start: float, end: float) -> list[TimedUnit]:
    """Units of one synthesiser event, whose letters share its time equally."""
    letters = [letter for letter in fold_affricates(ipa) if letter in IPA_UNITS]
    if not letters:
        return [TimedUnit("SIL", start, end)]
    step = (end - start) / len(letters)
    return [
        TimedUnit(IPA_UNITS[letter], start + i * step, start + (i + 1) * step)
        for i, letter in enumerate(letters)
    ]


def join_silences(units: Iterable[TimedUnit]) -> list[TimedUnit]:
    """The same units with neighbouring silences merged."""
    joined: list[TimedUnit] = []
    for unit in units:
        if joined and unit.unit == "SIL" and joined[-1].unit == "SIL":
            joined[-1] = joined[-1]._replace(end=unit.end)
        else:
            joined.append(unit)
    return joined


def scaled(units: Iterable[TimedUnit], factor: float, offset: float = 0.0) -> list[TimedUnit]:
    """Units with every time multiplied by `factor` and then moved by `offset` seconds."""
    return [TimedUnit(unit, start * factor + offset, end * factor + offset) for unit, start, end in units]


def frame_labels(units: Sequence[TimedUnit], frames: int, fps: float = 25.0) -> np.ndarray:
    """Index of the unit sounding at the middle of each frame, IGNORED_LABEL where none is known; int64
    [frames].
    """
    labels = np.full(frames, IGNORED_LABEL, np.int64)
    middles = (np.arange(frames) + 0.5) / fps
    for unit, start, end in units:
        if unit in UNIT_INDEX:
            labels[(middles >= start) & (middles < end)] = UNIT_INDEX[unit]
    return labels
