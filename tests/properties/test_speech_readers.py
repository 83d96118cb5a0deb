"""Two readers of one recording: whatever they ask for and when, they get its samples, and little is kept."""

import random
import threading
import time
import wave
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from avatar_cli.media.speech_in import BLOCK
from avatar_cli.media.speech_source import SpeechSource
from avatar_cli.protocol.timing import MODEL_RATE, frame_edge, frames_for

SECONDS = 3
FPS = [Fraction(25), Fraction(24), Fraction(30000, 1001), Fraction(50)]
FORMATS = [(8000, 1), (22050, 2), (44100, 1), (48000, 6)]


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """For each format: its file, its samples, and what models hear of it when they ask for all at once."""
    found = {}
    for rate, channels in FORMATS:
        shape = (SECONDS * rate + 77, channels)
        noise = np.random.default_rng(rate).integers(-8000, 8000, shape, dtype=np.int16)
        path = tmp_path_factory.mktemp("speech") / f"{rate}-{channels}.wav"
        with wave.open(str(path), "wb") as file:
            file.setnchannels(channels)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(noise.tobytes())
        source = SpeechSource(path, Fraction(25), keep_sound=False)
        heard = source.model_samples(0, (SECONDS + 1) * MODEL_RATE)
        source.close()
        found[rate, channels] = path, noise.astype(np.float32) / 32768, heard
    return found


class Readers:
    """One source, with what each side has taken so far."""

    def __init__(self, recording, fps):
        path, self.sound, self.heard = recording
        self.fps = fps
        self.source = SpeechSource(path, fps)
        self.rate = self.source.info.rate
        self.frames = frames_for(len(self.sound), self.rate, fps)
        self.frame = 0  # next of the publisher
        self.released = 0  # of the models
        self.asked = 0  # furthest sample of the models, at 16 kHz

    def publish(self):
        assert self.source.has_frame(self.frame) == (self.frame < self.frames)
        if self.frame == self.frames:
            return
        start, stop = (frame_edge(edge, self.rate, self.fps) for edge in (self.frame, self.frame + 1))
        taken = self.source.sound_for_frame(self.frame)
        own = self.sound[start:stop]
        assert np.array_equal(taken[: len(own)], own)
        assert len(taken) == stop - start
        assert not taken[len(own) :].any()
        self.frame += 1

    def hear(self, back, length):
        start = max(self.released, self.asked - back)
        stop = min(start + length, len(self.heard))
        self.asked = max(self.asked, stop)
        assert np.array_equal(self.source.model_samples(start, stop), self.heard[start:stop])

    def release(self, back):
        self.released = max(self.released, self.asked - back)
        self.source.release_model(self.released)

    def assert_little_is_kept(self):
        """No more than from the earliest need to the furthest request, and the blocks at both ends."""
        published, asked = self.frame / self.fps, Fraction(self.asked, MODEL_RATE)
        furthest = max(published + 1 / self.fps, asked)
        for shelf, rate, needed in (
            (self.source._model, MODEL_RATE, Fraction(self.released, MODEL_RATE)),
            (self.source._sound, self.rate, published),
        ):
            kept = sum(len(piece) for _, piece in shelf._pieces)
            block = Fraction(BLOCK, self.rate)
            assert kept <= max(furthest - needed + 3 * block, 0) * rate + 1


steps = st.one_of(
    st.just(("publish",)),
    st.tuples(st.just("hear"), st.integers(0, 9000), st.integers(1, 12_000)),
    st.tuples(st.just("release"), st.integers(0, 9000)),
)


@settings(max_examples=25)
@given(st.sampled_from(FORMATS), st.sampled_from(FPS), st.lists(steps, min_size=1, max_size=60))
def test_any_order_of_reads_gives_the_recording(recordings, form, fps, order):
    readers = Readers(recordings[form], fps)
    for name, *arguments in order:
        getattr(readers, name)(*arguments)
        readers.assert_little_is_kept()
    while readers.frame < readers.frames:
        readers.publish()
    readers.publish()
    assert readers.source.total_frames == readers.frames
    if readers.released:
        for start, stop in ((readers.released - 1, readers.released + 9), (-5, readers.released)):
            with pytest.raises(ValueError, match="released"):
                readers.source.model_samples(start, stop)
        assert not readers.source.model_samples(-5, 0).any()
    readers.source.close()


@settings(max_examples=10)
@given(st.sampled_from(FORMATS), st.sampled_from(FPS), st.integers(0, 10**6))
def test_two_threads_of_any_pace_get_the_recording(recordings, form, fps, seed):
    readers = Readers(recordings[form], fps)
    failures = []

    def run(work, seed):
        pace = random.Random(seed)
        try:
            for step in work(pace):
                step()
                if pace.random() < 0.1:
                    time.sleep(pace.random() * 1e-3)
        except BaseException as error:
            failures.append(error)

    def publishing(pace):
        while readers.frame < readers.frames:
            yield readers.publish

    def hearing(pace):
        while readers.asked < len(readers.heard):
            yield lambda: readers.hear(pace.randrange(2000), pace.randrange(2001, 9000))
            yield lambda: readers.release(pace.randrange(3000))

    threads = [
        threading.Thread(target=run, args=(work, seed + place), daemon=True)
        for place, work in enumerate((publishing, hearing))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not failures, failures
    assert readers.frame == readers.frames
    assert readers.asked == len(readers.heard)
    readers.source.close()
