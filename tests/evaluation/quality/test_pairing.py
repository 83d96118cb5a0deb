from pathlib import Path

import numpy as np
import pytest

from avatar_cli.evaluation.quality.observation import Observation, Sight
from avatar_cli.evaluation.quality.pairing import pair
from avatar_cli.evaluation.quality.sound import Sound
from avatar_cli.protocol.errors import InputError


def observation(curves, speech=None, heard=True):
    frames = len(curves)
    speech = np.ones(frames, bool) if speech is None else speech
    sound = Sound(np.zeros((frames, 48), np.float32), np.zeros(frames, np.float32), speech) if heard else None
    sight = Sight(curves, np.zeros((frames, 3), np.float32), None, None, (None, None), [])
    return Observation(Path("video.mp4"), sight, sound)


@pytest.mark.parametrize("lag", [-6, 0, 6])
def test_a_mouth_that_precedes_its_sound_meets_the_render_of_that_sound(face_curves, wander, lag):
    mouth = wander(1, 200)
    spoken_in_time = face_curves(200, gap=np.roll(mouth, lag))  # as the sound of the recording has it
    recording = face_curves(150, gap=mouth[:150])

    pairing = pair(observation(spoken_in_time), observation(recording), lag)

    assert len(pairing.rendered) == len(pairing.real) == len(pairing.speech)
    assert len(pairing.real) >= 144
    assert np.array_equal(pairing.rendered.opening, pairing.real.opening)


def test_videos_that_share_no_speech_are_refused(face_curves):
    silent = np.zeros(100, bool)

    with pytest.raises(InputError, match="share only 0 frames with speech"):
        pair(observation(face_curves(100), silent), observation(face_curves(100)), 0)


def test_a_video_without_sound_cannot_be_compared(face_curves):
    with pytest.raises(InputError, match="has no sound"):
        pair(observation(face_curves(100), heard=False), observation(face_curves(100)), 0)
