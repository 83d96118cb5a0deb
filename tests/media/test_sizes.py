import os
from pathlib import Path

import pytest

from avatar_cli.media.sizes import derived_output, resolve_size
from avatar_cli.protocol.errors import UsageError


@pytest.mark.parametrize(
    ("text", "reference", "size"),
    [
        ("720p", (1000, 600), (1280, 720)),
        ("720p", (600, 600), (1280, 720)),
        ("720p", (600, 601), (720, 1280)),
        ("1080p", (600, 900), (1080, 1920)),
        ("540p", (900, 600), (960, 540)),
        ("360p", (900, 600), (640, 360)),
        ("512x768", (900, 600), (512, 768)),
        ("source", (511, 333), (510, 332)),
    ],
)
def test_sizes(text, reference, size):
    assert resolve_size(text, reference) == size


@pytest.mark.parametrize(
    ("text", "reference", "advice"),
    [
        ("big", (512, 512), "720p"),
        ("511x512", (512, 512), "510x512"),
        ("8192x512", (512, 512), "4096"),
        ("32x512", (512, 512), "64"),
        ("0x0", (512, 512), "64"),
        ("720p ", (512, 512), "720p"),
        ("-64x64", (512, 512), "WxH"),
        ("source", (6144, 6144), "--size 720p"),
        ("source", (24, 24), "--size 720p"),
    ],
)
def test_impossible_sizes_are_refused_with_advice(text, reference, advice):
    with pytest.raises(UsageError, match=advice) as error:
        resolve_size(text, reference)
    assert error.value.message.count("\n") == 0


def test_the_output_is_named_after_the_speech_in_the_current_folder():
    assert derived_output(Path("/photos/anna.png"), Path("/sounds/hello.wav")) == Path("hello.mp4")


def test_a_derived_name_never_is_an_input(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert derived_output(Path("anna.png"), Path("hello.mp4")) == Path("anna-hello.mp4")
    assert derived_output(Path("hello.mp4"), Path("sounds/hello.wav")) == Path("hello-hello.mp4")


def test_a_loop_of_links_has_a_derived_name_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    assert derived_output(Path("anna.png"), Path("loop")) == Path("loop.mp4")
    assert derived_output(Path("loop"), Path("hello.wav")) == Path("hello.mp4")


def test_a_speech_from_a_pipe_has_no_name_so_the_video_gets_the_photos(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert derived_output(Path("/photos/anna.png"), Path("-")) == Path("anna.mp4")
    assert derived_output(Path("anna.mp4"), Path("-")) == Path("anna-speech.mp4")
    os.mkfifo("pipe.wav")
    assert derived_output(Path("anna.png"), Path("pipe.wav")) == Path("anna.mp4")


def test_a_size_out_of_range_is_told_its_range_and_no_other_size():
    for text in ("1x1080", "99999x99999"):
        with pytest.raises(UsageError, match="64 to 4096"):
            resolve_size(text, (100, 100))
