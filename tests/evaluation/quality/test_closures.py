import numpy as np
import pytest

from avatar_cli.evaluation.quality.closures import closures, labiodental_contact
from avatar_cli.evaluation.quality.phones import Phone

SECOND = 25


def test_a_closed_mouth_closes_at_every_bilabial():
    phones = [Phone("B", 0.4, 0.5), Phone("M", 1.0, 1.1)]

    assert closures(np.zeros(50), phones) == (2, 2)


def test_an_open_mouth_closes_at_none():
    opening = np.full(100, 0.1)
    opening[90:] = 0.0  # it can close, but does so elsewhere

    assert closures(opening, [Phone("P", 0.4, 0.5), Phone("B0", 1.0, 1.1)]) == (0, 2)


def test_lips_that_meet_within_40_ms_of_the_sound_count():
    opening = np.full(100, 0.1)
    opening[[10, 60]] = 0.0  # 0.40 s and 2.40 s

    phones = [Phone("B", 0.42, 0.48), Phone("B", 2.20, 2.25), Phone("AA", 1.0, 1.2)]

    assert closures(opening, phones) == (1, 2)


def test_a_sound_before_the_first_frame_does_not_count():
    early = [Phone("B", -0.3, -0.2), Phone("F", -0.3, -0.2)]

    assert closures(np.zeros(50), early) == (0, 0)
    assert labiodental_contact(np.zeros(50), early, np.ones(50, bool)) == []


def test_a_sound_after_the_last_frame_does_not_count():
    assert closures(np.zeros(50), [Phone("B", 2.1, 2.2)]) == (0, 0)


def test_the_opening_at_f_and_v_is_given_in_deviations():
    speech = np.ones(100, bool)
    opening = np.where(np.arange(100) % 2, 1.0, 3.0)  # mean 2, deviation 1

    scores = labiodental_contact(opening, [Phone("F", 0.40, 0.48), Phone("V", 0.80, 0.80)], speech)

    assert scores == pytest.approx([-1, 1])  # frames 11 and 20


def test_a_still_mouth_has_neither_contact_nor_its_opposite():
    assert labiodental_contact(np.zeros(50), [Phone("F", 0.4, 0.5)], np.ones(50, bool)) == [0.0]
