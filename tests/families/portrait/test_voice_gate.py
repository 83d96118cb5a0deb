"""The voice gate: open for every voice, shut for every other sound, told no later than the audio encoder."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from avatar_cli.evaluation.speech_frames import speech_mask
from avatar_cli.families.portrait.audio_encoder import LOOK_AHEAD_FRAMES
from avatar_cli.families.portrait.training.nonspeech import music
from avatar_cli.families.portrait.voice_detector import CONTEXT
from avatar_cli.families.portrait.voice_gate import BLOCK, VoiceGate
from avatar_cli.media.decoding import read_sound
from tests.families.portrait.voices import RATE, demo_speech, white_noise

FRAME = RATE // 25
SPOKEN = (
    *("a_8k_mono.wav", "a_clipped.wav", "a_quiet_-40dB.wav", "a_short_0.2s.wav"),
    *("s01_jfk_inaugural_44k_stereo.flac", "s04_ljspeech_22k.wav", "s07_librivox_austen_0870.wav"),
    *("s10_librispeech_116.m4a", "s11_bilingual_en_es_88s.mp3", "s14_ms_two_speakers_29s.wav"),
    *("s15_ms_spanish_mx.wav", "s16_ms_chinese_53s.wav", "s18_ms_mulaw.wav", "s19_ms_stereo_short.wav"),
    "s35_tts_female_24k_f32.wav",
)
NOT_SPOKEN = (
    *("a_silence_10s_48k.wav", "a_white_noise_5s.wav"),
    *("s43_music_galway.m4a", "s46_music_ambient_44k_stereo.flac"),
)


@pytest.fixture(scope="module")
def detector(family):
    return family._networks.voice_detector


@pytest.fixture
def recording(media):
    return lambda name: read_sound(media / "speech" / name, seconds=15)


def blocks(samples):
    return np.resize(np.pad(samples, (0, 4 * BLOCK)), (len(samples) // BLOCK + 3, BLOCK))


def gate_values(detector, samples):
    """Of all frames of a recording, float32 [ceil(len / 640)]."""
    gate = VoiceGate(detector)
    with torch.no_grad():
        values = np.concatenate([gate.push(block) for block in blocks(samples)])
    return values[: -(-len(samples) // FRAME)]


def share_shut(detector, samples, speech=None):
    """Of the frames in which there is speech, those in which the gate is not wide open.

    `speech` is what is spoken in `samples`, where something else sounds too.
    """
    values = gate_values(detector, samples)
    spoken = speech_mask(samples if speech is None else speech, RATE, Fraction(25), len(values))
    return np.mean(values[spoken] < 1)


def silence(seconds):
    return np.zeros(round(RATE * seconds), np.float32)


@pytest.mark.parametrize("decibels", [0, -20, -40])
def test_speech_stays_open(detector, decibels):
    assert share_shut(detector, 10 ** (decibels / 20) * demo_speech()) < 0.01


def test_speech_in_noise_and_over_music_stays_open(detector):
    speech = demo_speech()
    loudness = speech.std()
    for sound in (white_noise(len(speech) // RATE + 1, 1.0), music(len(speech), np.random.default_rng(1))):
        heard = speech + 0.3 * loudness * sound[: len(speech)].astype(np.float32)
        assert share_shut(detector, heard, speech) < 0.01


@pytest.mark.parametrize("level", [0.3, 0.01, 0.0])
def test_noise_and_silence_stay_shut(detector, level):
    assert not gate_values(detector, white_noise(6, level)).any()


@pytest.mark.parametrize("seed", range(4))
def test_music_stays_shut(detector, seed):
    tune = 0.2 * music(6 * RATE, np.random.default_rng(seed))
    assert not gate_values(detector, tune.astype(np.float32)).any()


def test_gate_is_open_before_the_first_word_and_shut_soon_after_the_last(detector):
    word = demo_speech()[round(0.5 * RATE) : round(2.5 * RATE)]
    values = gate_values(detector, np.concatenate([silence(3), word, silence(3)]))
    first, last = 3 * 25, 5 * 25
    assert not values[: first - LOOK_AHEAD_FRAMES].any()
    assert np.all(values[first : last - 10] == 1)
    assert not values[last + 25 :].any()


def test_gate_moves_gently(detector):
    word = demo_speech()[round(0.5 * RATE) : round(1.5 * RATE)]
    steps = np.diff(gate_values(detector, np.concatenate([silence(2), word, silence(3)])))
    assert 0 < steps.max() < 0.34
    assert -0.13 < steps.min() < 0


class AnySound:
    """A detector that is at once more than certain of a voice where a window is not silent."""

    width = 1

    def __init__(self):
        self.network = self

    def __call__(self, windows, state):
        return 3.0 * (windows[:, CONTEXT:] != 0).any(dim=1), state


@pytest.mark.parametrize("frame", range(20, 28))
def test_a_value_hears_all_of_its_look_ahead_and_nothing_later(frame):
    heard = silence(4)
    heard[FRAME * (frame + 1 + LOOK_AHEAD_FRAMES) :] = 0.1
    values = gate_values(AnySound(), heard)
    assert not values[: frame + 1].any()
    assert values[frame + 1] > 0


def test_nothing_later_than_the_look_ahead_changes_a_value(detector):
    tune = 0.1 * music(4 * RATE, np.random.default_rng(5)).astype(np.float32)
    other, start = tune.copy(), FRAME * (50 + LOOK_AHEAD_FRAMES)
    other[start:] = np.resize(demo_speech()[RATE // 2 :], len(other) - start)
    before, after = gate_values(detector, tune), gate_values(detector, other)
    assert np.array_equal(before[:50], after[:50])
    assert after[50 + LOOK_AHEAD_FRAMES] > before[50 + LOOK_AHEAD_FRAMES]


def test_state_continues_bit_for_bit_after_every_block(detector):
    first = VoiceGate(detector)
    with torch.no_grad():
        for block in blocks(demo_speech()[: 4 * RATE]):
            second = VoiceGate(detector)
            second.restore({name: value.copy() for name, value in first.state().items()})
            assert np.array_equal(first.push(block), second.push(block))
            ours, theirs = first.state(), second.state()
            assert all(np.array_equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.parametrize("name", SPOKEN)
def test_real_speech_stays_open(detector, recording, name):
    assert share_shut(detector, recording(name)) < 0.01


@pytest.mark.parametrize("name", NOT_SPOKEN)
def test_real_music_noise_and_silence_stay_shut(detector, recording, name):
    assert not gate_values(detector, recording(name)).any()
