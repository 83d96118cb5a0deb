import numpy as np

from avatar_cli.families.portrait.latents import MOUTH
from avatar_cli.families.portrait.training.phones import TimedUnit
from avatar_cli.families.portrait.training.visemes import mouth_target, phonetic_table

GAP, WIDTH, JAW = (MOUTH.index(name) for name in ("gap", "width", "jaw_drop"))
TABLE = phonetic_table()


def said(*sounds, start=0.4, length=0.12):
    """Silence, the sounds one after another, silence."""
    units = [TimedUnit("SIL", 0.0, start)]
    for sound in sounds:
        units.append(TimedUnit(sound, units[-1].end, units[-1].end + length))
    return [*units, TimedUnit("SIL", units[-1].end, units[-1].end + 0.6)]


def target(units, level_db=-8.0, lead=0.0):
    frames = int(units[-1].end * 25)
    return mouth_target(TABLE, units, np.full(frames, level_db), lead)


def frame_of(unit):
    return int((unit.start + unit.end) / 2 * 25)


def test_lips_close_between_two_open_vowels():
    units = said("AA", "M", "AA")
    gap = target(units)[:, GAP]
    assert gap[frame_of(units[2])] < 0
    assert gap[frame_of(units[1])] > 0.05 and gap[frame_of(units[3])] > 0.05


def test_rounded_vowel_is_narrow_and_spread_vowel_wide():
    rounded, spread = said("UW"), said("IY")
    assert target(rounded)[frame_of(rounded[1]), WIDTH] < -0.04
    assert target(spread)[frame_of(spread[1]), WIDTH] > 0.01


def test_rounding_begins_before_the_sound():
    units = said("T", "UW")
    width = target(units)[:, WIDTH]
    assert width[int(units[2].start * 25) - 1] < -0.01


def test_louder_speech_opens_further():
    units = said("AA")
    frame = frame_of(units[1])
    assert target(units, level_db=0.0)[frame, GAP] > 1.3 * target(units, level_db=-15.0)[frame, GAP]


def test_lead_moves_the_mouth_ahead_of_the_sound():
    units = said("AA", length=0.2)
    late, early = (target(units, lead=lead)[:, GAP] for lead in (0.0, 0.08))
    assert np.allclose(early[:-2], late[2:])


def test_long_pause_closes_the_mouth():
    units = said("AA")
    mouth = target(units)
    assert np.abs(mouth[2]).max() < 0.004
    assert np.abs(mouth[-1]).max() < 0.004


def test_jaw_opens_most_for_an_open_vowel():
    opened = {unit: target(said(unit))[frame_of(said(unit)[1]), JAW] for unit in ("AA", "IY", "S", "UW")}
    assert max(opened, key=opened.get) == "AA"
