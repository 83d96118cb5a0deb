import numpy as np
import pytest

from avatar_cli.families.portrait.training.phones import (
    IGNORED_LABEL,
    UNIT_INDEX,
    UNKNOWN,
    TimedUnit,
    frame_labels,
    from_arpabet,
    from_ipa_event,
    from_ipa_letters,
)


def names(units):
    return [unit.unit for unit in units]


def test_diphthong_is_split_and_keeps_its_time():
    units = from_arpabet([("K", 0.0, 0.1), ("AY1", 0.1, 0.3), ("T", 0.3, 0.4)])
    assert names(units) == ["K", "AA", "IH", "T"]
    assert units[1].end == units[2].start == pytest.approx(0.22)


def test_decoder_noise_is_silence_and_neighbouring_silences_are_one():
    units = from_arpabet([("SIL", 0, 0.2), ("+NSN+", 0.2, 0.3), ("<sil>", 0.3, 0.4), ("AH", 0.4, 0.5)])
    assert units == [TimedUnit("SIL", 0, 0.4), TimedUnit("AH", 0.4, 0.5)]


def test_unknown_phone_is_kept_out_of_the_labels():
    units = from_arpabet([("QQ", 0.0, 0.2), ("AH", 0.2, 0.4)])
    assert names(units) == [UNKNOWN, "AH"]
    labels = frame_labels(units, 10)
    assert set(labels[:5]) == {IGNORED_LABEL} and set(labels[5:]) == {UNIT_INDEX["AH"]}


def test_marks_lengthen_their_neighbours():
    units = from_ipa_letters("…ˈiːm…", [0.3, 0.05, 0.1, 0.1, 0.08, 0.2])
    assert names(units) == ["SIL", "IY", "M", "SIL"]
    assert units[1].start == pytest.approx(0.3) and units[1].end == pytest.approx(0.55)


def test_short_gap_between_words_belongs_to_the_sound_before():
    units = from_ipa_letters("a b", [0.1, 0.05, 0.1])
    assert names(units) == ["AA", "B"]
    assert units[0].end == pytest.approx(0.15)


def test_affricate_of_an_event_is_one_unit():
    assert names(from_ipa_event("tʃ", 0.0, 0.1)) == ["CH"]


def test_labels_follow_the_middle_of_each_frame():
    labels = frame_labels([TimedUnit("M", 0.04, 0.08)], 4)
    assert np.array_equal(labels, [IGNORED_LABEL, UNIT_INDEX["M"], IGNORED_LABEL, IGNORED_LABEL])
