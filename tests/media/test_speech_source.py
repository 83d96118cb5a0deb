import threading
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
import soxr

from avatar_cli.media.speech_in import SpeechDecoder
from avatar_cli.media.speech_source import SpeechSource
from avatar_cli.protocol.timing import MODEL_RATE, frame_edge, frames_for

FPS = Fraction(25)


def whole(path) -> np.ndarray:
    decoder = SpeechDecoder(path)
    samples = np.concatenate(list(decoder.blocks()))
    decoder.close()
    return samples


@pytest.mark.parametrize(("rate", "channels"), [(8000, 1), (16000, 1), (22050, 2), (44100, 2), (48000, 6)])
def test_models_hear_the_mean_of_all_channels_at_16_khz(write_wav, rate, channels):
    path = write_wav("speech.wav", 3 * rate + 123, rate, channels)
    source = SpeechSource(path, FPS)
    heard = source.model_samples(0, 4 * MODEL_RATE)
    source.close()
    expected = soxr.resample(whole(path).mean(axis=1), rate, MODEL_RATE)
    assert np.allclose(heard[: len(expected)], expected, atol=1e-6)
    assert not heard[len(expected) :].any()
    assert expected.std() > 0.01


@pytest.mark.parametrize("step", [1, 161, 640, 5000, 20000])
def test_model_samples_are_bitwise_the_same_however_they_are_pulled(write_wav, step):
    path = write_wav("speech.wav", 30000, channels=2)
    at_once = SpeechSource(path, FPS)
    in_steps = SpeechSource(path, FPS)
    expected = at_once.model_samples(-500, 23500)
    stop = 2000 if step == 1 else 23500
    pulled = [in_steps.model_samples(start, min(start + step, stop)) for start in range(-500, stop, step)]
    assert np.array_equal(np.concatenate(pulled), expected[: stop + 500])
    assert not expected[:500].any()
    at_once.close()
    in_steps.close()


def test_a_longer_recording_begins_with_bitwise_the_same_samples(write_wav):
    short = SpeechSource(write_wav("short.wav", 22050 * 2, 22050), FPS)
    long = SpeechSource(write_wav("long.wav", 22050 * 5, 22050), FPS)
    until = 2 * MODEL_RATE - 800  # the filter of the resampler looks a few milliseconds ahead
    assert np.array_equal(short.model_samples(0, until), long.model_samples(0, until))
    for frame in range(49):
        assert np.array_equal(short.sound_for_frame(frame), long.sound_for_frame(frame))
    short.close()
    long.close()


@pytest.mark.parametrize("fps", [Fraction(24), Fraction(25), Fraction(30000, 1001), Fraction(60)])
@pytest.mark.parametrize(
    ("samples", "rate"), [(1, 22050), (882, 22050), (883, 22050), (73581, 22050), (3200, 8000)]
)
def test_frames_cover_the_recording_exactly(write_wav, fps, samples, rate):
    path = write_wav("speech.wav", samples, rate, channels=2)
    source = SpeechSource(path, fps)
    assert source.total_frames is None
    frames = 0
    taken = []
    while source.has_frame(frames):
        taken.append(source.sound_for_frame(frames))
        assert len(taken[-1]) == frame_edge(frames + 1, rate, fps) - frame_edge(frames, rate, fps)
        frames += 1
    assert frames == source.total_frames == source.estimated_frames == frames_for(samples, rate, fps)
    sound = np.concatenate(taken)
    assert np.array_equal(sound[:samples], whole(path))
    assert not sound[samples:].any()
    source.close()


def test_the_count_of_decoded_samples_rules_not_the_header(write_wav, tmp_path):
    data = write_wav("whole.wav", 22050 * 4).read_bytes()
    (tmp_path / "cut.wav").write_bytes(data[:-22050])
    source = SpeechSource(tmp_path / "cut.wav", FPS)
    assert source.has_frame(87)
    assert not source.has_frame(88)
    assert source.total_frames == 88  # 3.5 s
    assert "damaged" in source.warnings[0]
    source.close()


def test_released_samples_and_frames_out_of_order_are_refused(write_wav):
    source = SpeechSource(write_wav("speech.wav", 22050), FPS)
    source.model_samples(0, 8000)
    source.release_model(4000)
    assert len(source.model_samples(4000, 8000)) == 4000
    assert not source.model_samples(-100, 0).any()
    with pytest.raises(ValueError, match="released"):
        source.model_samples(3999, 8000)
    with pytest.raises(ValueError, match="frame 1"):
        source.sound_for_frame(1)
    source.close()


def test_many_channels_are_announced_as_mixed_down(write_wav):
    for channels, layout in [(6, None), (8, "5.1"), (12, "mono")]:
        source = SpeechSource(write_wav("speech.wav", 100, channels=channels), FPS)
        assert [layout in warning for warning in source.warnings] == ([True] if layout else [])
        source.close()


def test_two_threads_get_what_one_would(write_wav):
    path = write_wav("speech.wav", 22050 * 20, channels=2)
    source = SpeechSource(path, FPS)
    sound: list[np.ndarray] = []

    def publish() -> None:
        frame = 0
        while source.has_frame(frame):
            sound.append(source.sound_for_frame(frame))
            frame += 1

    publisher = threading.Thread(target=publish)
    publisher.start()
    heard = []
    for start in range(0, 20 * MODEL_RATE, 640):
        heard.append(source.model_samples(start, start + 640))
        source.release_model(start + 640)
    publisher.join(30)
    source.close()
    alone = SpeechSource(path, FPS)
    assert np.array_equal(np.concatenate(heard), alone.model_samples(0, 20 * MODEL_RATE))
    assert np.array_equal(np.concatenate(sound)[: 22050 * 20], whole(path))
    alone.close()


def peak_of(path, seconds: float) -> int:
    """Bytes at the peak when models look one second ahead of the published frame."""
    source = SpeechSource(path, FPS)
    tracemalloc.start()
    for frame in range(int(seconds * FPS)):
        start = frame * 640
        source.model_samples(start, start + MODEL_RATE)
        source.release_model(start)
        source.sound_for_frame(frame)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    source.close()
    return peak


def test_memory_does_not_grow_with_the_recording(write_wav):
    path = write_wav("speech.wav", 22050 * 600)
    assert peak_of(path, 600) < peak_of(path, 10) + 100_000


def test_nothing_is_read_ahead_of_what_is_asked(write_wav):
    path = write_wav("speech.wav", 22050 * 600)
    source = SpeechSource(path, FPS)
    tracemalloc.start()
    source.model_samples(0, MODEL_RATE)
    kept = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert kept < 600_000  # a second of 22 kHz float sound, twice, and some blocks; the file has 53 MB
    assert source.total_frames is None
    source.close()
