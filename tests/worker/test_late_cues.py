import wave
from dataclasses import replace
from fractions import Fraction

import pytest

from avatar_cli.media.speech_source import SpeechSource
from avatar_cli.protocol.job import Cue
from avatar_cli.worker.late_cues import expected_late, late

RATE = 8000
SECONDS = 2
CUES = [Cue(Fraction(0), ()), Cue(Fraction(1999, 1000), ()), Cue(Fraction(2), ()), Cue(Fraction(60), ())]
SENTENCES = [f"The cue at {at} s lies after the end of the speech and does nothing." for at in (2, 60)]


@pytest.fixture
def path(tmp_path):
    speech = tmp_path / "talk.wav"
    with wave.open(str(speech), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(bytes(2 * RATE * SECONDS))
    return speech


def test_of_a_file_late_cues_are_known_before_it_is_read(path):
    speech = SpeechSource(path, Fraction(25))
    assert expected_late(CUES, speech, path) == SENTENCES
    assert speech.total_frames is None  # what is read now would have to be kept
    assert late(CUES, speech) == SENTENCES
    speech.close()


@pytest.mark.parametrize(("promised", "early"), [(0.5, SENTENCES), (10.0, SENTENCES), (99.0, []), (None, [])])
def test_a_header_that_is_wrong_makes_no_cue_late_that_is_not(path, monkeypatch, promised, early):
    speech = SpeechSource(path, Fraction(25))
    monkeypatch.setattr(SpeechSource, "info", replace(speech.info, seconds=promised))
    assert expected_late(CUES, speech, path) == early
    assert late(CUES, speech) == SENTENCES
    speech.close()
