import wave

import numpy as np
import pytest

from avatar_cli.evaluation.silence import restlessness, write_silence


def test_restlessness_is_how_far_the_mouth_opens_beyond_its_median():
    still = np.full(100, 0.02)
    twitching = still.copy()
    twitching[:10] = 0.05

    assert restlessness(still) == 0
    assert restlessness(twitching) == pytest.approx(0.03)


def test_the_silence_is_digital(tmp_path):
    write_silence(tmp_path / "silence.wav", 2)

    with wave.open(str(tmp_path / "silence.wav")) as file:
        assert file.getnframes() / file.getframerate() == 2
        assert not any(file.readframes(file.getnframes()))
