import subprocess
from pathlib import Path

import pytest

from avatar_cli.media.ffmpeg import ffmpeg_path
from avatar_cli.media.sound_kind import begins_with_mpeg_frame, lacks_its_end, plays_in_order


def reader(data):
    return lambda offset, length: data[offset : offset + length]


def encode(source: Path, target: Path, *options) -> bytes:
    argv = [ffmpeg_path(), "-loglevel", "error", "-y", "-i", source, *options, target]
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL)
    return target.read_bytes()


IN_ORDER = {
    "speech.wav": [],
    "speech.flac": [],
    "stream.mp3": ["-write_xing", "0"],
    "bare.mp3": ["-write_xing", "0", "-id3v2_version", "0"],
    "speech.aac": [],
    "speech.ogg": ["-c:a", "libvorbis"],
    "speech.opus": [],
    "speech.mka": ["-c:a", "flac"],
    "speech.webm": ["-c:a", "libopus"],
    "first.m4a": ["-movflags", "+faststart"],
    "fragments.m4a": ["-movflags", "frag_keyframe+empty_moov"],
    "speech.au": [],
    "speech.amr": ["-c:a", "libopencore_amrnb", "-ar", "8000"],
    "speech.ts": ["-c:a", "aac"],
    "speech.flv": ["-ar", "44100"],
    "speech.ac3": [],
    "speech.wma": [],
    "speech.w64": [],
    "speech.tta": [],
    "speech.mpg": ["-ar", "44100"],
}
NOT_IN_ORDER = {
    "last.m4a": [],
    "last.mov": ["-c:a", "pcm_s16le"],
    "finished.mp3": [],
    "speech.aiff": [],
    "speech.wv": [],
    "speech.avi": [],
    "speech.caf": [],
}


@pytest.mark.parametrize("name", IN_ORDER)
def test_what_is_made_while_it_is_sent_plays_in_order(speech, tmp_path, name):
    assert plays_in_order(reader(encode(speech(1.0), tmp_path / name, *IN_ORDER[name])))


@pytest.mark.parametrize("name", NOT_IN_ORDER)
def test_what_may_need_its_end_first_does_not(speech, tmp_path, name):
    assert not plays_in_order(reader(encode(speech(1.0), tmp_path / name, *NOT_IN_ORDER[name])))


@pytest.mark.parametrize("data", [b"x", b"no sound at all" * 20, bytes(5000)])
def test_of_what_is_unknown_the_end_is_not_waited_for(data):
    assert plays_in_order(reader(data))


def test_an_index_behind_large_boxes_is_found():
    large = b"\0\0\0\x01free" + (100).to_bytes(8) + bytes(84)
    assert plays_in_order(reader(large + b"\0\0\0\x08moov"))
    assert not plays_in_order(reader(large + b"\0\0\0\x08mdat\0\0\0\x08moov"))


def test_the_end_of_an_ogg_file_is_missed_wherever_it_is_cut(speech, tmp_path):
    whole = encode(speech(3.0), tmp_path / "speech.ogg", "-c:a", "libvorbis")
    assert not lacks_its_end(reader(whole), len(whole))
    last = whole.rfind(b"OggS")
    for length in (last, last + 3, last + 20, last + 30, len(whole) - 1, len(whole) // 2, 60):
        assert lacks_its_end(reader(whole[:length]), length), length
    assert not lacks_its_end(reader(b"RIFF"), 4)


def test_an_mpeg_frame_is_known_behind_tags_and_zeros():
    frame = bytes([0xFF, 0xFB, 0x90, 0x64])
    tag = b"ID3\x04\0\0\0\0\x01\0" + bytes(128)
    for data in (
        frame,
        tag + frame,
        tag + tag + bytes(30) + frame,
        b"ID3\x04\0\x10\0\0\0\x01" + bytes(11) + frame,
    ):
        assert begins_with_mpeg_frame(reader(data))
    for data in (b"", b"\xff", b"text", bytes([0xFF, 0xFB, 0xF0, 0x64]), bytes([0xFF, 0xF1, 0x50, 0x80])):
        assert not begins_with_mpeg_frame(reader(data))
