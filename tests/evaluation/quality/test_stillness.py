import numpy as np
import pytest

from avatar_cli.evaluation.quality.stillness import opening_in_silence


def test_only_long_silences_count():
    opening = np.zeros(200)
    silent = np.zeros(200, bool)
    silent[50:70] = True
    opening[50:70] = np.linspace(0, 9, 20)  # too short a silence

    assert opening_in_silence(opening, silent) is None

    silent[100:180] = True
    opening[120:180:2] = 0.5

    assert opening_in_silence(opening, silent) == pytest.approx(0.5)


def test_the_mouth_may_close_at_the_beginning_of_a_silence_but_not_of_the_video():
    opening = np.zeros(100)
    silent = np.ones(100, bool)
    opening[:10] = 1.0

    assert opening_in_silence(opening, silent) == pytest.approx(1.0)

    silent[0] = False
    assert opening_in_silence(opening, silent) == 0
