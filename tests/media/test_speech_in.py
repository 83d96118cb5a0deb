import os
import signal
import struct
import subprocess
import sys
import time
import wave
from pathlib import Path

import numpy as np
import pytest

from avatar_cli.media.ffmpeg import ffmpeg_path
from avatar_cli.media.speech_in import BLOCK, SpeechDecoder, SpeechInfo, probe_speech
from avatar_cli.protocol.errors import InputError, RenderFailure


def convert(source: Path, target: Path, *options: str) -> Path:
    argv = [ffmpeg_path(), "-loglevel", "error", "-y", "-i", source, *options, target]
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL)
    return target


def decode(path: Path) -> tuple[np.ndarray, list[str]]:
    decoder = SpeechDecoder(path)
    samples = np.concatenate(list(decoder.blocks()))
    decoder.close()
    return samples, decoder.warnings


def write_float_wav(path: Path, samples: np.ndarray, rate: int) -> Path:
    data = samples.astype("<f4").tobytes()
    fmt = struct.pack("<HHIIHH", 3, 1, rate, rate * 4, 4, 32)
    body = b"WAVEfmt " + struct.pack("<I", len(fmt)) + fmt + b"data" + struct.pack("<I", len(data)) + data
    path.write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)
    return path


@pytest.mark.parametrize(("rate", "channels"), [(8000, 1), (22050, 1), (44100, 2), (48000, 6), (37800, 12)])
def test_wav_comes_back_sample_by_sample_in_fixed_blocks(write_wav, rate, channels):
    path = write_wav("speech.wav", 2 * BLOCK + 777, rate, channels)
    decoder = SpeechDecoder(path)
    assert decoder.info == SpeechInfo(
        "pcm_s16le", rate, channels, pytest.approx((2 * BLOCK + 777) / rate, abs=0.01)
    )
    blocks = list(decoder.blocks())
    decoder.close()
    assert [block.shape for block in blocks] == [(BLOCK, channels), (BLOCK, channels), (777, channels)]
    with wave.open(str(path)) as file:
        stored = np.frombuffer(file.readframes(10**6), "<i2").reshape(-1, channels)
    assert np.array_equal(np.concatenate(blocks), stored.astype(np.float32) / 32768)
    assert decoder.warnings == []


def test_one_sample_is_speech(write_wav):
    samples, warnings = decode(write_wav("speech.wav", 1))
    assert samples.shape == (1, 1)
    assert warnings == []


def test_flac_is_exact_and_mp3_has_its_true_length(write_wav, tmp_path):
    source = write_wav("speech.wav", 30000, channels=2)
    flac, warnings = decode(convert(source, tmp_path / "speech.flac"))
    assert np.array_equal(flac, decode(source)[0])
    mp3, more = decode(convert(source, tmp_path / "speech.mp3"))
    assert abs(len(mp3) - 30000) <= 1152
    assert warnings == more == []


@pytest.mark.parametrize(
    "name", ["speech.wav", "speech.txt", "-i speech", "a:b.wav", "concat:x.wav", "%d.wav"]
)
def test_the_content_decides_not_the_name(write_wav, tmp_path, monkeypatch, name):
    source = write_wav("source", 100)
    monkeypatch.chdir(tmp_path)
    source.rename(name)
    assert probe_speech(Path(name)).rate == 22050


def test_an_mp3_with_a_picture_inside_is_sound(write_wav, tmp_path):
    from PIL import Image

    Image.new("RGB", (600, 600), "red").save(tmp_path / "cover.png")
    options = [
        "-i",
        str(tmp_path / "cover.png"),
        "-map",
        "0:a",
        "-map",
        "1:v",
        "-c:v",
        "copy",
        "-id3v2_version",
        "3",
    ]
    path = convert(write_wav("speech.wav", 30000), tmp_path / "speech.mp3", *options)
    assert probe_speech(path).codec == "mp3"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "speech is empty"),
        (b"no sound at all\n" * 10, "speech is not a sound file"),
        (b"OggS" + bytes(100), "speech is Ogg, which avatar does not read: convert it to WAV, FLAC or MP3"),
        (b"\0\0\0\x20ftypM4A " + bytes(100), "speech is MP4 or M4A"),
        (b"FORM\0\0\0\0AIFF" + bytes(100), "speech is AIFF"),
        (bytes(5000), "speech is not a sound file"),
        (b"RIFF\x24\0\0\0WAVE", "speech cannot be decoded"),
        (b"fLaC" + bytes(100), "speech cannot be decoded"),
        (b"\xff\xfb\x90\x64" + b"not mp3 any more " * 100, "speech (cannot be decoded|holds no sound)"),
        (b"\xff\xf1\x50\x80" + bytes(100), "speech is not a sound file"),  # AAC in ADTS
    ],
)
def test_what_cannot_be_used_is_named_in_one_sentence(tmp_path, data, message):
    path = tmp_path / "speech"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message) as error:
        probe_speech(path)
    assert "\n" not in error.value.message


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(InputError, match=r"absent\.wav cannot be read \(No such file"):
        probe_speech(tmp_path / "absent.wav")
    with pytest.raises(InputError, match=r"cannot be read \(Is a directory"):
        probe_speech(tmp_path)


def test_a_header_without_samples_is_no_speech(write_wav):
    with pytest.raises(InputError, match="holds no sound"):
        probe_speech(write_wav("speech.wav", 0))


@pytest.mark.parametrize("suffix", ["wav", "flac", "mp3"])
def test_a_cut_recording_is_used_as_far_as_it_goes_with_a_warning(write_wav, tmp_path, suffix):
    source = write_wav("source.wav", 22050 * 4)
    whole = source if suffix == "wav" else convert(source, tmp_path / f"whole.{suffix}")
    cut = tmp_path / f"cut.{suffix}"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2 + 1])
    samples, warnings = decode(cut)
    assert len(samples) == pytest.approx(44100, rel=0.15)
    assert len(warnings) == 1
    assert "cut." in warnings[0]
    assert "is damaged" in warnings[0]


def test_samples_that_cannot_be_sound_become_silence(tmp_path):
    samples = np.array([0.5, np.nan, np.inf, -np.inf, 3e38, -1e7, -0.25, 1.5], np.float32)
    decoded, warnings = decode(write_float_wav(tmp_path / "speech.wav", samples, 16000))
    assert decoded[:, 0].tolist() == [0.5, 0, 0, 0, 0, 0, -0.25, 1.5]
    assert "cannot be sound" in warnings[0]


def test_a_rate_too_low_for_speech_is_refused(write_wav):
    with pytest.raises(InputError, match=r"speech\.wav has 999 samples a second"):
        probe_speech(write_wav("speech.wav", 2000, 999))
    assert probe_speech(write_wav("speech.wav", 2000, 1000)).rate == 1000


@pytest.mark.timeout(20)
def test_a_pipe_is_refused_instead_of_waited_for(tmp_path):
    os.mkfifo(tmp_path / "speech.wav")
    with pytest.raises(InputError, match=r"speech\.wav is not a file but a pipe"):
        probe_speech(tmp_path / "speech.wav")


def test_a_killed_decoder_is_an_error_not_an_end(write_wav):
    decoder = SpeechDecoder(write_wav("speech.wav", 22050 * 60))
    blocks = decoder.blocks()
    next(blocks)
    os.kill(decoder.pid, signal.SIGKILL)
    with pytest.raises(RenderFailure, match=r"decoding .*speech\.wav: it was killed by SIGKILL"):
        list(blocks)
    decoder.close()


def test_closing_early_leaves_no_process(write_wav):
    decoder = SpeechDecoder(write_wav("speech.wav", 22050 * 60))
    decoder.close()
    with pytest.raises(ProcessLookupError):
        os.kill(decoder.pid, 0)


def test_the_decoder_dies_with_its_reader(write_wav):
    code = (
        "import os, signal, sys; from pathlib import Path;"
        "from avatar_cli.media.speech_in import SpeechDecoder;"
        "d = SpeechDecoder(Path(sys.argv[1])); print(d.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    path = write_wav("speech.wav", 22050 * 60)
    reader = subprocess.run([sys.executable, "-c", code, path], capture_output=True, check=False)
    pid = int(reader.stdout)
    deadline = time.monotonic() + 10
    while running(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not running(pid)


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


REFUSED = {
    "a_in_video.mp4": "MP4",
    "a_vorbis.ogg": "Ogg",
    "e_empty.wav": "empty",
    "e_text.mp3": "not a sound file",
    "s10_librispeech_116.m4a": "M4A",
    "s43_music_galway.m4a": "M4A",
    "s48_missing_header.wav": "not a sound file",
}
FACTS = {  # rate, channels, seconds
    "a_1sample.wav": (22050, 1, 1 / 22050),
    "a_24kbps.mp3": (22050, 1, 9.66),
    "a_44k_stereo.wav": (44100, 2, 9.66),
    "a_48k_float32.wav": (48000, 1, 9.66),
    "a_51.wav": (48000, 6, 9.66),
    "a_8k_mono.wav": (8000, 1, 9.66),
    "a_short_0.2s.wav": (22050, 1, 0.2),
    "e_truncated.wav": (22050, 1, 0.45),
    "s01_jfk_inaugural_44k_stereo.flac": (44100, 2, 11.0),
    "s03_jfk.mp3": (16000, 1, 11.0),
    "s18_ms_mulaw.wav": (16000, 1, 2.03),
    "s47_silence_60s.mp3": (48000, 1, 60.0),
}


def test_real_recordings(real_media):
    refused = {}
    for path in sorted((real_media / "speech").iterdir()):
        try:
            info = probe_speech(path)
        except InputError as error:
            refused[path.name] = error.message
            continue
        if path.name in FACTS:
            rate, channels, seconds = FACTS[path.name]
            samples, warnings = decode(path)
            assert (info.rate, info.channels, samples.shape[1]) == (rate, channels, channels)
            assert len(samples) / rate == pytest.approx(seconds, abs=0.03), path.name
            assert bool(warnings) == (path.name == "e_truncated.wav"), warnings
    assert refused.keys() == REFUSED.keys()
    assert all(REFUSED[name] in message for name, message in refused.items()), refused
