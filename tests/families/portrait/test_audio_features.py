import numpy as np
import pytest

from avatar_cli.families.portrait.audio_features import MELS, SILENCE, LogMelStream, frame_level, log_mels


def speech_like(seconds, seed=0, gain=0.2):
    rng = np.random.default_rng(seed)
    time = np.arange(int(16000 * seconds)) / 16000
    voiced = sum(np.sin(2 * np.pi * 120 * k * time) / k for k in range(1, 20))
    syllables = np.clip(np.sin(2 * np.pi * 3 * time), 0, 1)
    return (gain * (0.3 * voiced * syllables + 0.01 * rng.standard_normal(len(time)))).astype(np.float32)


def in_pieces(samples, sizes):
    stream = LogMelStream()
    mels, start, index = [], 0, 0
    while start < len(samples):
        size = sizes[index % len(sizes)]
        mels.append(stream.push(samples[start : start + size]))
        start += size
        index += 1
    return np.concatenate([*mels, stream.finish()])


def test_four_frames_for_every_640_samples_begun():
    for samples, frames in ((0, 0), (1, 4), (640, 4), (641, 8), (16000, 100)):
        assert log_mels(np.zeros(samples, np.float32)).shape == (frames, MELS)


def test_digital_silence_is_exactly_the_constant():
    assert np.all(log_mels(np.zeros(16000, np.float32)) == SILENCE)


def test_silence_after_loud_speech_is_exactly_the_constant_too():
    mels = log_mels(np.concatenate([speech_like(1), np.zeros(16000, np.float32)]))
    assert np.all(mels[110:] == SILENCE)


@pytest.mark.parametrize("sizes", [(1, 7, 333), (640,), (2560,), (99999,)])
def test_values_do_not_depend_on_how_the_sound_was_cut(sizes):
    samples = speech_like(1.3)
    assert np.array_equal(in_pieces(samples, sizes), log_mels(samples))


def test_values_do_not_depend_on_what_follows():
    samples = speech_like(3.0)
    short, long = log_mels(samples[:16000]), log_mels(samples)
    assert np.array_equal(short[:96], long[:96])


def test_frame_is_centred_on_its_sample():
    samples = np.zeros(16000, np.float32)
    samples[160 * 40] = 0.9
    loudest = frame_level(log_mels(samples)).argmax()
    assert loudest == 40


def test_gain_makes_no_difference_once_the_level_is_known():
    loud, quiet = log_mels(speech_like(3, gain=0.5)), log_mels(speech_like(3, gain=0.05))
    assert np.abs(loud[150:] - quiet[150:]).max() < 0.02


def test_reference_comes_down_to_quieter_speech_and_waits_in_pauses():
    loud, quiet = speech_like(1, gain=0.5), speech_like(5, gain=0.05)
    level = frame_level(log_mels(np.concatenate([loud, quiet])))
    assert level[500:600].max() > level[105:200].max() + 4
    pause = np.zeros(5 * 16000, np.float32)
    level = frame_level(log_mels(np.concatenate([loud, pause, quiet])))
    assert level[605:700].max() < -15


def test_state_continues_bit_for_bit():
    samples = speech_like(2.0)
    first = LogMelStream()
    before = first.push(samples[:12345])
    second = LogMelStream()
    second.restore({name: value.copy() for name, value in first.state().items()})
    after = np.concatenate([second.push(samples[12345:]), second.finish()])
    assert np.array_equal(np.concatenate([before, after]), log_mels(samples))


def test_state_is_small():
    stream = LogMelStream()
    stream.push(speech_like(5.0))
    assert sum(value.nbytes for value in stream.state().values()) < 8000


def test_values_stay_in_range():
    rng = np.random.default_rng(1)
    mels = log_mels(np.clip(rng.standard_normal(32000), -1, 1).astype(np.float32))
    assert mels.min() >= -2.0 and mels.max() <= 2.0
