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
        "pcm_s16le",
        rate,
        channels,
        0,
        pytest.approx((2 * BLOCK + 777) / rate, abs=0.01),
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


def test_positions_of_channels_are_known_where_the_file_says_them(write_wav, tmp_path):
    source = write_wav("guessed.wav", 1000, 48000, 6)
    assert probe_speech(source).positions == 0
    told = convert(source, tmp_path / "told.wav", "-channel_layout", "5.1")
    assert probe_speech(told).positions == 0x3F


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
        (b"no sound at all\n" * 10, "speech is not a recording"),
        (b"OggS" + bytes(100), "speech cannot be decoded"),
        (b"\0\0\0\x20ftypM4A " + bytes(100), r"speech cannot be decoded \(moov atom not found"),
        (b"FORM\0\0\0\0AIFF" + bytes(100), "speech is not a recording"),
        (bytes(5000), "speech is not a recording"),
        (b"RIFF\x24\0\0\0WAVE", "speech is not a recording"),
        (b"fLaC" + bytes(100), "speech is not a recording"),
        (b"\xff\xfb\x90\x64" + b"not mp3 any more " * 100, "speech (cannot be decoded|has no sound)"),
        (b"\xff\xf1\x50\x80" + bytes(100), "speech is not a recording"),  # a piece of AAC
        (b"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nspeech.wav\n", "speech is not a recording"),
        (b"ffconcat version 1.0\nfile speech.wav\n", "speech is not a recording"),
        (b"v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nm=audio 5004 RTP/AVP 0\n", "speech is not a recording"),
        (bytes(range(256)) * 100, "speech is not a recording"),
    ],
)
def test_what_cannot_be_used_is_named_in_one_sentence(tmp_path, data, message):
    path = tmp_path / "speech"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message) as error:
        probe_speech(path)
    assert "\n" not in error.value.message


def test_text_and_noise_named_like_a_recording_are_no_recording(tmp_path):
    for name in ("speech.mp3", "speech.aac", "speech.raw", "speech.gsm", "speech.m3u8"):
        for data in (b"To be, or not to be. " * 500, np.random.default_rng(1).bytes(20000)):
            (tmp_path / name).write_bytes(data)
            with pytest.raises(InputError, match=r"is not a recording|cannot be decoded"):
                probe_speech(tmp_path / name)


def test_a_picture_is_no_recording_and_a_silent_film_has_no_sound(tmp_path):
    from PIL import Image

    for suffix in ("png", "jpg", "gif", "bmp", "webp"):
        Image.new("RGB", (64, 64), "red").save(tmp_path / f"picture.{suffix}")
        with pytest.raises(InputError, match="is not a recording"):
            probe_speech(tmp_path / f"picture.{suffix}")
    for suffix in ("mp4", "mkv", "avi"):
        film = convert(tmp_path / "picture.png", tmp_path / f"film.{suffix}", "-frames:v", "5")
        with pytest.raises(InputError, match=rf"film\.{suffix} has no sound: give .* a video with sound"):
            probe_speech(film)


@pytest.mark.parametrize(
    ("name", "options", "codec"),
    [
        ("speech.m4a", [], "aac"),
        ("alac.m4a", ["-c:a", "alac"], "alac"),
        ("speech.ogg", ["-c:a", "libvorbis"], "vorbis"),
        ("speech.opus", [], "opus"),
        ("speech.webm", ["-c:a", "libopus"], "opus"),
        ("speech.mka", ["-c:a", "flac"], "flac"),
        ("speech.aiff", [], "pcm_s16be"),
        ("speech.au", ["-c:a", "pcm_mulaw"], "pcm_mulaw"),
        ("alaw.wav", ["-c:a", "pcm_alaw"], "pcm_alaw"),
        ("float.wav", ["-c:a", "pcm_f64le"], "pcm_f64le"),
        ("24.wav", ["-c:a", "pcm_s24le"], "pcm_s24le"),
        ("adpcm.wav", ["-c:a", "adpcm_ms"], "adpcm_ms"),
        ("speech.amr", ["-c:a", "libopencore_amrnb", "-ar", "8000"], "amr_nb"),
        ("speech.wma", [], "wmav2"),
        ("speech.aac", [], "aac"),
        ("speech.ac3", [], "ac3"),
        ("speech.caf", [], "pcm_s16be"),
        ("speech.w64", [], "pcm_s16le"),
        ("speech.wv", [], "wavpack"),
        ("speech.tta", [], "tta"),
        ("speech.mp2", ["-ar", "44100"], "mp2"),
        ("speech.ts", ["-c:a", "aac"], "aac"),
        ("speech.flv", ["-ar", "44100"], "mp3"),
        ("speech.mov", ["-c:a", "pcm_s16le"], "pcm_s16le"),
    ],
)
def test_anything_that_ffmpeg_decodes_is_speech(speech, tmp_path, name, options, codec):
    source = speech(2.0)
    decoder = SpeechDecoder(convert(source, tmp_path / name, *options))
    samples = np.concatenate(list(decoder.blocks()))[:, 0]
    decoder.close()
    assert decoder.info.codec == codec
    assert decoder.warnings == []
    assert len(samples) / decoder.info.rate == pytest.approx(2.0, abs=0.06)
    own = decode(source)[0][:, 0]
    assert np.sqrt(np.mean(samples**2)) == pytest.approx(np.sqrt(np.mean(own**2)), rel=0.2)


def test_dsd_is_speech(tmp_path):
    bits = np.random.default_rng(0).bytes(4096 * 40)
    fmt = struct.pack("<IIIIIIQII", 1, 0, 1, 1, 2822400, 1, len(bits) * 8, 4096, 0)
    chunks = b"fmt " + struct.pack("<Q", 12 + len(fmt)) + fmt
    chunks += b"data" + struct.pack("<Q", 12 + len(bits)) + bits
    header = b"DSD " + struct.pack("<QQQ", 28, 28 + len(chunks), 0)
    (tmp_path / "speech.dsf").write_bytes(header + chunks)
    samples, _ = decode(tmp_path / "speech.dsf")
    assert len(samples) == len(bits)  # a byte is eight samples of one bit, and one sample of 352.8 kHz


def test_the_first_sound_of_a_film_is_speech_however_long_its_pictures_are(speech, write_wav, tmp_path):
    source = speech(2.0)
    other = write_wav("other.wav", 8000 * 2, 8000)
    pictures = ["-f", "lavfi", "-t", "5", "-i", "testsrc=s=64x64"]
    options = [*pictures, "-i", str(other), "-map", "1:v", "-map", "0:a", "-map", "2:a", "-c:a", "flac"]
    film = convert(source, tmp_path / "film.mkv", *options)
    samples, warnings = decode(film)
    assert np.array_equal(samples, decode(source)[0])
    assert warnings == []


def test_a_book_of_many_chapters_tells_its_length(speech, tmp_path):
    marks = "".join(
        f"[CHAPTER]\nTIMEBASE=1/1000\nSTART={at * 10}\nEND={at * 10 + 10}\ntitle=Chapter {at}\n"
        for at in range(200)
    )
    (tmp_path / "chapters.txt").write_text(f";FFMETADATA1\n{marks}")
    options = ["-i", str(tmp_path / "chapters.txt"), "-map_metadata", "1"]
    info = probe_speech(convert(speech(2.0), tmp_path / "book.m4b", *options))
    assert (info.codec, info.seconds) == ("aac", pytest.approx(2.0, abs=0.1))


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(InputError, match=r"absent\.wav cannot be read \(No such file"):
        probe_speech(tmp_path / "absent.wav")
    with pytest.raises(InputError, match=r"cannot be read \(Is a directory"):
        probe_speech(tmp_path)


def test_a_file_whose_bytes_cannot_be_read_is_named():
    with pytest.raises(InputError, match=r"/proc/self/mem cannot be read \(Input/output error\)"):
        probe_speech(Path("/proc/self/mem"))


def test_a_header_without_samples_is_no_speech(write_wav):
    with pytest.raises(InputError, match="has no sound"):
        probe_speech(write_wav("speech.wav", 0))


CUTTABLE = {
    "speech.wav": [],
    "speech.flac": [],
    "speech.mp3": [],
    "speech.ogg": ["-c:a", "libvorbis"],
    "speech.opus": [],
    "speech.m4a": ["-movflags", "+faststart"],
    "speech.mka": ["-c:a", "flac"],
    "speech.aiff": [],
    "speech.wv": [],
}


@pytest.mark.parametrize("name", CUTTABLE)
def test_a_cut_recording_is_used_as_far_as_it_goes_with_a_warning(speech, tmp_path, name):
    source = speech(6.0)
    whole = convert(source, tmp_path / name, *CUTTABLE[name])
    assert decode(whole)[1] == []
    cut = tmp_path / f"cut.{name}"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2 + 1])
    samples, warnings = decode(cut)
    rate = probe_speech(cut).rate
    assert 1.5 < len(samples) / rate < 4.5
    assert len(warnings) == 1
    assert f"cut.{name} is damaged" in warnings[0]
    assert f"the {len(samples) / rate:.2f} s that can be decoded are used" in warnings[0]


def found(part: np.ndarray, samples: np.ndarray) -> bool:
    """Whether `part` is somewhere in `samples`."""
    alike = np.correlate(samples, part, "valid")
    power = np.convolve(samples**2, np.ones(len(part)), "valid") * np.sum(part**2)
    return bool((alike / np.sqrt(power + 1e-9)).max() > 0.99)


@pytest.mark.parametrize("placeholder", [0, 0x7FFFF000, 0x80000000, 0xFFFFFFFF])
def test_a_wav_that_was_made_for_a_pipe_is_whole_though_its_header_knows_no_length(
    speech, tmp_path, placeholder
):
    data = speech(2.0).read_bytes()
    at = data.index(b"data") + 4
    path = tmp_path / "piped.wav"
    path.write_bytes(data[:at] + struct.pack("<I", placeholder) + data[at + 4 :])
    assert probe_speech(path).seconds is None
    samples, warnings = decode(path)
    assert np.array_equal(samples, decode(tmp_path / "speech-2.0.wav")[0])
    assert warnings == []


def test_an_mp4_cut_before_its_index_is_refused(speech, tmp_path):
    whole = convert(speech(4.0), tmp_path / "speech.m4a").read_bytes()
    (tmp_path / "cut.m4a").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"cut\.m4a cannot be decoded \(moov atom not found\)"):
        probe_speech(tmp_path / "cut.m4a")


@pytest.mark.parametrize("name", ["speech.flac", "speech.mp3", "speech.ogg", "speech.m4a"])
def test_decoding_goes_on_after_damage(speech, tmp_path, name):
    whole = convert(speech(6.0), tmp_path / name, *CUTTABLE[name]).read_bytes()
    middle = len(whole) // 2
    noise = np.random.default_rng(2).bytes(800)
    (tmp_path / "damaged").write_bytes(whole[:middle] + noise + whole[middle + 800 :])
    samples, warnings = decode(tmp_path / "damaged")
    own, _ = decode(tmp_path / name)
    assert 0.7 * len(own) < len(samples) <= len(own)
    assert found(own[-9000:-7000, 0], samples[:, 0])
    assert len(warnings) == 1
    assert "is damaged" in warnings[0]


def test_samples_that_cannot_be_sound_become_silence(tmp_path):
    samples = np.array([0.5, np.nan, np.inf, -np.inf, 3e38, -1e7, 20_000, -0.25, 1.5], np.float32)
    decoded, warnings = decode(write_float_wav(tmp_path / "speech.wav", samples, 16000))
    assert decoded[:, 0].tolist() == [0.5, 0, 0, 0, 0, 0, 0, -0.25, 1.5]
    assert "cannot be sound" in warnings[0]


def test_a_rate_too_low_for_speech_is_refused(write_wav):
    with pytest.raises(InputError, match=r"speech\.wav has 999 samples a second"):
        probe_speech(write_wav("speech.wav", 2000, 999))
    assert probe_speech(write_wav("speech.wav", 2000, 1000)).rate == 1000


def test_a_rate_that_no_recorder_makes_is_refused(write_wav):
    with pytest.raises(InputError, match=r"speech\.wav has 10000001 samples a second, more than"):
        probe_speech(write_wav("speech.wav", 2000, 10_000_001))
    assert probe_speech(write_wav("speech.wav", 2000, 10_000_000)).rate == 10_000_000


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
    "e_empty.wav": "is empty",
    "e_text.mp3": "is not a recording",
    "s48_missing_header.wav": "is not a recording",
}
FACTS = {  # rate, channels, seconds
    "a_1sample.wav": (22050, 1, 1 / 22050),
    "a_24kbps.mp3": (22050, 1, 9.66),
    "a_44k_stereo.wav": (44100, 2, 9.66),
    "a_48k_float32.wav": (48000, 1, 9.66),
    "a_51.wav": (48000, 6, 9.66),
    "a_8k_mono.wav": (8000, 1, 9.66),
    "a_in_video.mp4": (22050, 1, 9.66),
    "a_short_0.2s.wav": (22050, 1, 0.2),
    "a_vorbis.ogg": (22050, 1, 9.66),
    "e_truncated.wav": (22050, 1, 0.45),
    "s01_jfk_inaugural_44k_stereo.flac": (44100, 2, 11.0),
    "s03_jfk.mp3": (16000, 1, 11.0),
    "s10_librispeech_116.m4a": (16000, 1, 8.63),
    "s18_ms_mulaw.wav": (16000, 1, 2.03),
    "s43_music_galway.m4a": (44100, 1, 15.83),
    "s47_silence_60s.mp3": (48000, 1, 60.0),
}


def test_real_recordings(media):
    refused = {}
    for path in sorted((media / "speech").iterdir()):
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
