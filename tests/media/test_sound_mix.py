import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from avatar_cli.media.sound_mix import HOP_SECONDS, MonoMix, counted_channels, polarities

RATE = 16000
HOP = round(RATE * HOP_SECONDS)
STEREO, FIVE_ONE = 0x3, 0x3F


def voice(seconds=2.0, seed=0):
    """Noise that comes and goes like syllables, without a sample that is exactly zero for long."""
    rng = np.random.default_rng(seed)
    time = np.arange(round(seconds * RATE)) / RATE
    loudness = 0.3 * np.abs(np.sin(2 * np.pi * 3 * time)) + 1e-3
    return (rng.standard_normal(len(time)) * loudness).astype(np.float32)


def mix(samples, mask=0, cuts=()):
    mixer = MonoMix(RATE, samples.shape[1], mask)
    parts = [mixer.push(part) for part in np.split(samples, sorted(cuts))]
    return np.concatenate([*parts, mixer.finish()])


def level(samples):
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))


def test_one_channel_passes_bit_by_bit():
    samples = voice()[:, None]
    assert mix(samples).tobytes() == samples.tobytes()


@pytest.mark.parametrize("balance", [1.0, 0.5, 0.1])
def test_stereo_in_phase_is_the_mean_bit_by_bit(balance):
    left = voice()
    samples = np.stack([left, np.float32(balance) * left + 0.05 * voice(seed=1)], axis=1)
    assert np.array_equal(mix(samples), samples.mean(axis=1))


def test_two_independent_channels_are_the_mean():
    samples = np.stack([voice(seed=1), voice(seed=2)], axis=1)
    assert np.array_equal(mix(samples), samples.mean(axis=1))


@pytest.mark.parametrize("balance", [1.0, 0.5, 0.1])
def test_a_channel_upside_down_does_not_cancel_the_other(balance):
    left = voice()
    right = np.float32(-balance) * left
    assert np.allclose(mix(np.stack([left, right], axis=1)), (left - right) / 2, atol=1e-7)


def test_speech_on_one_side_keeps_its_level():
    left = voice()
    silent = np.zeros_like(left)
    assert np.array_equal(mix(np.stack([left, silent], axis=1)), left)
    assert np.array_equal(mix(np.stack([silent, left], axis=1)), left)


def test_dither_of_a_silent_side_does_not_count():
    left = voice()
    dither = np.random.default_rng(5).integers(-1, 2, len(left)).astype(np.float32) / 32768
    assert level(mix(np.stack([left, dither], axis=1)) - left) < 1e-4


def test_the_centre_of_5_1_keeps_its_level_and_low_frequency_effects_do_not_count():
    centre = voice()
    samples = np.zeros((len(centre), 6), np.float32)
    samples[:, 2] = centre
    samples[:, 3] = 0.9
    assert np.array_equal(mix(samples, FIVE_ONE), centre)


def test_all_channels_of_5_1_count_but_low_frequency_effects():
    samples = np.stack([voice(seed=seed) for seed in range(6)], axis=1)
    assert np.allclose(mix(samples, FIVE_ONE), samples[:, [0, 1, 2, 4, 5]].mean(axis=1), atol=1e-6)


@pytest.mark.parametrize(
    ("channels", "mask", "counted"),
    [
        (2, STEREO, [0, 1]),
        (6, FIVE_ONE, [0, 1, 2, 4, 5]),
        (6, 0, [0, 1, 2, 3, 4, 5]),
        (3, 0xB, [0, 1]),
        (1, 0x8, [0]),
        (12, 0, list(range(12))),
    ],
)
def test_which_channels_count(channels, mask, counted):
    assert counted_channels(channels, mask) == counted


def test_a_change_of_polarity_is_followed_without_a_click():
    left = np.sin(2 * np.pi * 110 * np.arange(4 * RATE) / RATE).astype(np.float32) * np.float32(0.3)
    right = left.copy()
    right[RATE : 3 * RATE] *= -1
    mixed = mix(np.stack([left, right], axis=1))
    steepest = np.abs(np.diff(left)).max()
    inside = np.concatenate([mixed[RATE + HOP : 3 * RATE], mixed[3 * RATE + HOP :]])
    assert np.abs(np.diff(inside)).max() < 1.5 * steepest
    for start, stop in ((0, 1), (1.7, 3), (3.7, 4)):
        between = slice(round(start * RATE), round(stop * RATE))
        assert level(mixed[between]) == pytest.approx(level(left[between]), rel=0.02)


def test_a_side_that_begins_late_fades_in():
    left = voice(3.0)
    right = voice(3.0, seed=1)
    right[:RATE] = 0
    mixed = mix(np.stack([left, right], axis=1))
    assert np.array_equal(mixed[:RATE], left[:RATE])
    after = slice(RATE + 2 * HOP, None)
    assert np.array_equal(mixed[after], ((left + right) / 2)[after])


def test_polarity_stays_between_the_thresholds_and_in_silence():
    half = np.array([[1.0, -0.6], [-0.6, 1.0]])
    upright, turned = np.array([1.0, 1.0]), np.array([1.0, -1.0])
    assert polarities(half, upright).tolist() == upright.tolist()
    assert polarities(half, turned).tolist() == turned.tolist()
    assert polarities(np.zeros((2, 2)), turned).tolist() == turned.tolist()
    assert polarities(np.array([[1.0, -0.3], [-0.3, 1.0]]), turned).tolist() == upright.tolist()


recordings = st.tuples(st.integers(1, 6), st.integers(0, 3 * HOP), st.integers(0, 2**31), st.booleans())


@settings(max_examples=60, deadline=None)
@given(recordings, st.lists(st.integers(0, 3 * HOP), max_size=5))
def test_the_mix_does_not_depend_on_how_it_is_read(recording, cuts):
    channels, length, seed, opposed = recording
    samples = np.random.default_rng(seed).standard_normal((length, channels)).astype(np.float32)
    if opposed and channels > 1:
        samples[:, 1] = -samples[:, 0]
    at_once = mix(samples)
    assert len(at_once) == length
    assert np.array_equal(mix(samples, cuts=cuts), at_once)


@settings(max_examples=60, deadline=None)
@given(recordings, st.integers(0, 3 * HOP))
def test_the_mix_knows_nothing_of_what_follows(recording, longer):
    channels, length, seed, opposed = recording
    samples = np.random.default_rng(seed).standard_normal((length + longer, channels)).astype(np.float32)
    if opposed and channels > 1:
        samples[length // 2 :, 1] = -samples[length // 2 :, 0]
    settled = length - length % HOP
    assert np.array_equal(mix(samples[:length])[:settled], mix(samples)[:settled])


@settings(max_examples=60, deadline=None)
@given(recordings)
def test_the_mix_is_never_louder_than_its_loudest_channel(recording):
    channels, length, seed, opposed = recording
    samples = np.random.default_rng(seed).uniform(-1, 1, (length, channels)).astype(np.float32)
    if opposed and channels > 1:
        samples[:, 1] = -samples[:, 0]
    assert (np.abs(mix(samples)) <= np.abs(samples).max(axis=1, initial=0) + 1e-6).all()
