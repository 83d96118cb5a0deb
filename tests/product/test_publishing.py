"""Speech source, publisher and encoder without any model: lengths to the sample, and an hour of them."""

import wave
from fractions import Fraction

import numpy as np
import psutil
import pytest

from avatar_cli.media.mp4_out import Mp4Writer, SoundFormat, VideoFormat
from avatar_cli.media.probe_mp4 import probe_mp4, read_sound
from avatar_cli.media.speech_source import SpeechSource
from avatar_cli.protocol.job import Encoding
from avatar_cli.protocol.timing import MODEL_RATE, frame_edge, frames_for
from avatar_cli.runtime.span import Span
from avatar_cli.runtime.stage import Piece
from avatar_cli.worker.publisher import Publisher

FRAME = np.full((32, 32, 3), 90, np.uint8)
HOUR = 3600
CLICK = np.array([30000, -30000, 30000, -30000], np.int16)
MB = 1_000_000


def no_events(event):
    pass


class Publishing:
    """Publishes one picture for as long as there is speech."""

    def __init__(self, speech, output, fps):
        self.fps = fps
        self.speech = SpeechSource(speech, fps)
        sound = SoundFormat(self.speech.info.rate, self.speech.info.channels)
        self.writer = Mp4Writer(
            output, VideoFormat(*FRAME.shape[:2], fps), sound, Encoding("ultrafast", 40, 32)
        )
        self.publisher = Publisher(self.writer, self.speech, None, no_events)

    def run(self, each_frame=lambda index: None):
        index = 0
        while self.speech.has_frame(index):
            self.publisher(Piece(Span(index, index + 1), FRAME))
            self.speech.release_model(frame_edge(index + 1, MODEL_RATE, self.fps))
            each_frame(index)
            index += 1
        output = self.publisher.finish()
        self.speech.close()
        return output


def write_wav(path, samples, rate, clicks=()):
    sound = np.zeros(samples, np.int16)
    for place in clicks:
        sound[place : place + len(CLICK)] = CLICK
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(sound.tobytes())
    return path


@pytest.mark.parametrize("more", [-1, 0, 1])
@pytest.mark.parametrize(
    ("rate", "fps", "frames", "samples"),
    [
        (8000, "25", 7, 2240),
        (22050, "24", 4, 3675),
        (44100, "30", 11, 16170),
        (48000, "24000/1001", 3, 6006),
        (44100, "30000/1001", 100, 147147),
        (48000, "50", 9, 8640),
    ],
)
def test_one_sample_more_than_whole_frames_is_a_frame_more(tmp_path, rate, fps, frames, samples, more):
    assert Fraction(samples, rate) == frames / Fraction(fps)
    speech = write_wav(tmp_path / "speech.wav", samples + more, rate)
    facts = probe_mp4(Publishing(speech, tmp_path / "out.mp4", Fraction(fps)).run())
    expected = frames + (more > 0)
    assert len(facts.video.times) == expected
    assert facts.video.times[0] == facts.sound.start == 0
    assert facts.video.end == pytest.approx(expected / Fraction(fps), abs=1e-4)
    assert abs(facts.video.end - facts.sound.end) < 1 / Fraction(fps)


@pytest.mark.parametrize(
    ("rate", "rate_out", "fps", "seconds"),
    [(8000, 8000, "6000/1001", HOUR), (37800, 48000, "30000/1001", 300)],
    ids=["an hour", "five minutes, resampled"],
)
def test_nothing_drifts(tmp_path, rate, rate_out, fps, seconds):
    rational, samples = Fraction(fps), seconds * rate + 3
    clicks = [rate, samples // 2, samples - 2 * rate - 7, samples - 400]
    speech = write_wav(tmp_path / "long.wav", samples, rate, clicks)
    publishing = Publishing(speech, tmp_path / "out.mp4", rational)
    ours, encoder = psutil.Process(), psutil.Process(publishing.writer.pid)
    memory = []

    def sample_memory(index):
        if index % 250 == 249:
            memory.append((ours.memory_info().rss, encoder.memory_info().rss))

    output = publishing.run(sample_memory)
    facts = probe_mp4(output)
    frames = frames_for(samples, rate, rational)
    assert facts.video.times == tuple(k / rational for k in range(frames))
    assert facts.sound.start == 0
    assert facts.video.end == pytest.approx(frames / rational, abs=1e-4)
    assert facts.sound.end == pytest.approx(frames / rational, abs=1e-3)

    heard = read_sound(output)[:, 0]
    assert facts.sound.rate == rate_out
    for click in clicks:
        place = round((click + (len(CLICK) - 1) / 2) * rate_out / rate)  # its middle
        around = np.abs(heard[place - 400 : place + 400])
        assert abs(int(around.argmax()) - 400) / rate_out < 1e-3

    begin, end = np.array(memory[len(memory) // 10]), np.array(memory[-1])
    assert end[0] - begin[0] < 2 * MB
    assert end[1] - begin[1] < 8 * MB  # ffmpeg keeps the index of the finished file in memory
