"""Lengths of a rendered file: as many frames as the sound needs, both tracks together from start to end."""

import wave
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from avatar_cli.media.probe_mp4 import decoding_fault, probe_mp4, read_sound
from avatar_cli.protocol.timing import frames_for

RATES_OF_VIDEO = ("24", "25", "30", "50", "24000/1001", "30000/1001")
SHORT_CHUNKS = ("chunks.frames=12", "chunks.interpolated=4", "chunks.border=3")
STEP = 0.1  # seconds


def write_wav(path, sound, rate):
    """Writes int16 [samples, channels]."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(sound.shape[1])
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(sound.tobytes())
    return path


def hiss(samples, channels=1):
    return np.random.default_rng(0).integers(-8000, 8000, (samples, channels), dtype=np.int16)


@pytest.mark.parametrize("fps", RATES_OF_VIDEO)
@pytest.mark.parametrize("samples", [1, 4410, 73581], ids=["one sample", "0.2 s", "3.337 s"])
def test_a_video_is_as_long_as_its_speech(render, tmp_path, fps, samples):
    rate, rational = 22050, Fraction(fps)
    speech = write_wav(tmp_path / "speech.wav", hiss(samples), rate)
    rendered = render(speech, *SHORT_CHUNKS, f"picture.fps={fps}")
    frames = -(-samples * rational // rate)  # ceil(duration * fps)
    assert len(rendered.hashes) == frames == frames_for(samples, rate, rational)
    video, sound = (facts := probe_mp4(rendered.output)).video, facts.sound
    assert video.times == tuple(k / rational for k in range(frames))
    assert video.times[0] == sound.start == 0
    assert video.end == pytest.approx(frames / rational, abs=1e-4)
    assert abs(video.end - sound.end) < 1 / rational
    assert sound.end >= Fraction(samples, rate) - Fraction(1, 1000)  # no speech is lost
    assert decoding_fault(rendered.output) is None


@pytest.mark.parametrize(
    ("rate", "channels", "rate_out", "channels_out"),
    [(8000, 1, 8000, 1), (44100, 2, 44100, 2), (48000, 6, 48000, 6), (37800, 2, 48000, 2)],
)
def test_the_sound_is_the_users_own(render, tmp_path, rate, channels, rate_out, channels_out):
    """Each channel is loud in a tenth of a second of its own, by a tone that also the LFE channel carries."""
    length = round(channels * STEP * rate)
    times = np.arange(length) / rate
    tone = 12000 * np.sin(2 * np.pi * 80 * times)
    turn = (times // STEP).astype(int)[:, None] == np.arange(channels)
    speech = write_wav(tmp_path / "speech.wav", (tone[:, None] * turn).astype(np.int16), rate)
    output = render(speech, *SHORT_CHUNKS, "encoding.audio_bitrate_kbps=256").output
    facts = probe_mp4(output).sound
    assert (facts.codec, facts.rate, facts.channels) == ("aac", rate_out, channels_out)
    heard = read_sound(output)
    edges = [round(k * STEP * rate_out) for k in range(channels + 1)]
    middle = round(0.02 * rate_out)
    loudness = np.array([heard[a + middle : b - middle].std(axis=0) for a, b in pairwise(edges)])
    expected = 12000 / 32768 / np.sqrt(2) * np.eye(channels)
    assert loudness == pytest.approx(expected, abs=0.05)
