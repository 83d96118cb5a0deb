import wave
from fractions import Fraction

import numpy as np
import pytest

from avatar_cli.media.mp4_out import Mp4Writer, SoundFormat, VideoFormat
from avatar_cli.media.probe_mp4 import probe_mp4
from avatar_cli.media.speech_source import SpeechSource
from avatar_cli.protocol.job import Encoding
from avatar_cli.runtime.span import Span
from avatar_cli.runtime.stage import Piece
from avatar_cli.worker.publisher import Publisher

SIZE = (1280, 720)  # a pipe holds less than one such frame


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("fps", "rate"), [(25, 22050), (60, 22050), (60, 48000), (240, 20480), (240, 1000)])
def test_no_frame_waits_for_sound_in_vain(tmp_path, fps, rate):
    path = tmp_path / "speech.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(bytes(rate // 2 * 2))
    speech = SpeechSource(path, Fraction(fps))
    video = VideoFormat(*SIZE, Fraction(fps))
    writer = Mp4Writer(tmp_path / "out.mp4", video, SoundFormat(rate, 1), Encoding("ultrafast", 40, 96))
    publisher = Publisher(writer, speech, None, lambda event: None)
    picture = np.zeros((SIZE[1], SIZE[0], 3), np.uint8)
    for index in range(fps):
        publisher(Piece(Span(index, index + 1), picture))
    facts = probe_mp4(publisher.finish())
    speech.close()
    assert len(facts.video.times) == publisher.frames == -(-fps // 2)
    assert abs(facts.video.end - facts.sound.end) < Fraction(1, fps) + Fraction(1, 1000)
