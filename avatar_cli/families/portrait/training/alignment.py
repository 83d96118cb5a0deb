"""Times of the sounds in recorded speech whose words are known, by forced alignment. Needs PyPI's
pocketsphinx 5.1.
"""

from collections.abc import Sequence

import numpy as np

from avatar_cli.families.portrait.audio_features import SAMPLE_RATE
from avatar_cli.families.portrait.training.phones import UNKNOWN, TimedUnit, from_arpabet
from avatar_cli.families.portrait.training.utterance import to_int16

_FRAMES_PER_SECOND = 100
_MARGIN_BEFORE, _MARGIN_AFTER = 0.2, 0.3  # seconds about a segment, whose own times are rough
_WIDER_BEAM = 1e-120
_PEAK = 0.8


class AlignmentError(RuntimeError):
    """The words could not be found in the sound."""


def align(samples: np.ndarray, segments: Sequence[tuple[float, float, str]]) -> list[TimedUnit]:
    """Units of float32 samples [n] at 16 kHz whose segments (start, end, lower-case words) are given in
    order.

    Each segment is aligned alone, so one that fails costs only its own stretch, which comes back as UNKNOWN.
    """
    level = samples * (_PEAK / (np.abs(samples).max() + 1e-6))
    end_of_sound = len(samples) / SAMPLE_RATE
    units: list[TimedUnit] = []
    now = 0.0
    for index, (start, end, words) in enumerate(segments):
        next_start = segments[index + 1][0] if index + 1 < len(segments) else end_of_sound
        first = max(0.0, start - _MARGIN_BEFORE)
        last = min(end_of_sound, end + _MARGIN_AFTER, max(next_start, end))
        for unit in _align_segment(level, first, last, words):
            if unit.end <= now + 0.01:
                continue
            begin = max(unit.start, now)
            if begin > now:
                units.append(TimedUnit("SIL", now, begin))
            units.append(TimedUnit(unit.unit, begin, unit.end))
            now = unit.end
    return [*units, TimedUnit("SIL", now, end_of_sound)]


def _align_segment(samples: np.ndarray, start: float, end: float, words: str) -> list[TimedUnit]:
    piece = to_int16(samples[round(start * SAMPLE_RATE) : round(end * SAMPLE_RATE)]).astype("<i2").tobytes()
    for beam in (None, _WIDER_BEAM):
        try:
            phones = _phones(piece, words, beam)
        except AlignmentError:
            continue
        return from_arpabet([(name, first + start, last + start) for name, first, last in phones])
    return [TimedUnit(UNKNOWN, start, end)]


def _phones(piece: bytes, words: str, beam: float | None) -> list[tuple[str, float, float]]:
    from pocketsphinx import Config, Decoder

    beams = {} if beam is None else {"beam": beam, "pbeam": beam, "wbeam": 1e-80}
    decoder = Decoder(Config(lm=None, loglevel="FATAL", **beams))
    try:
        decoder.set_align_text(words)
        _decode(decoder, piece)  # finds the words
        decoder.set_alignment()
        _decode(decoder, piece)  # finds the phones inside them
        alignment = decoder.get_alignment()
    except RuntimeError as failure:
        raise AlignmentError(words) from failure
    if alignment is None:
        raise AlignmentError(words)
    return [
        (phone.name, phone.start / _FRAMES_PER_SECOND, (phone.start + phone.duration) / _FRAMES_PER_SECOND)
        for word in alignment
        for phone in word
    ]


def _decode(decoder: "pocketsphinx.Decoder", piece: bytes) -> None:  # type: ignore[name-defined]  # noqa: F821
    decoder.start_utt()
    decoder.process_raw(piece, full_utt=True)
    decoder.end_utt()
