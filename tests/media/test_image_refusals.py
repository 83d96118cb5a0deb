import os
import struct
import zlib

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from avatar_cli.media import picture_file
from avatar_cli.media.image_in import load_photo, probe_image
from avatar_cli.protocol.errors import InputError


def brands(major: bytes, *compatible: bytes) -> bytes:
    """The file-type box that begins ISO media files (ISO/IEC 14496-12, 4.3)."""
    content = major + bytes(4) + b"".join(compatible)
    return struct.pack(">I", 8 + len(content)) + b"ftyp" + content + bytes(64)


FOREIGN = {
    "phone.heic": (brands(b"heic", b"mif1", b"heic"), "is a HEIC picture.*save it as JPEG"),
    "phone.jpg": (brands(b"mif1", b"mif1", b"heic"), "is a HEIC picture"),
    "camera.cr3": (brands(b"crx ", b"crx ", b"isom"), "is a camera's raw file"),
    "broken.avif": (brands(b"avif", b"mif1", b"avif"), "damaged"),
    "clip.mp4": (brands(b"isom", b"mp41"), "is a sound or video file"),
    "speech.m4a": (brands(b"M4A ", b"mp42"), "is a sound or video file"),
    "speech.wav": (b"RIFF\x24\0\0\0WAVEfmt " + bytes(40), "is a sound or video file"),
    "speech.mp3": (b"ID3\x04" + bytes(40), "is a sound or video file"),
    "speech.flac": (b"fLaC" + bytes(40), "is a sound or video file"),
    "film.webm": (b"\x1a\x45\xdf\xa3" + bytes(40), "is a sound or video file"),
    "page.pdf": (b"%PDF-1.7\n" + bytes(40), "is a PDF document.*export it as PNG"),
    "drawing.eps": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "is an EPS or PostScript drawing"),
    "drawing.jpg": (b"\xc5\xd0\xd3\xc6" + bytes(40), "is an EPS drawing"),
    "drawing.wmf": (b"\xd7\xcd\xc6\x9a" + bytes(40), "is a WMF drawing"),
    "drawing.svg": (
        b'<?xml version="1.0"?>\n<!-- me -->\n<svg xmlns="x"/>',
        "is an SVG drawing.*export it as PNG",
    ),
    "photo.jxl": (b"\xff\x0a" + bytes(40), "is a JPEG XL picture"),
    "text.jpg": (b"not a picture", "is not a picture that avatar can read"),
    "empty.png": (b"", "is empty"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_what_is_no_picture_is_named_with_advice(tmp_path, name):
    data, message = FOREIGN[name]
    (tmp_path / name).write_bytes(data)
    for read in (probe_image, load_photo):
        with pytest.raises(InputError, match=message) as error:
            read(tmp_path / name)
        assert error.value.message.startswith(str(tmp_path / name))
        assert error.value.message.count("\n") == 0


def test_no_interpreter_is_started_for_a_drawing(tmp_path, monkeypatch):
    """Pillow hands EPS to the program gs, were it asked to read it."""
    program = tmp_path / "gs"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    drawing = tmp_path / "drawing.eps"
    Image.new("RGB", (9, 9)).save(drawing)
    with pytest.raises(InputError, match="EPS"):
        load_photo(drawing)
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("tags", [{50706: b"\x01\x04\0\0"}, {254: 1}])
def test_the_thumbnail_of_a_raw_file_is_not_taken_for_the_photo(tmp_path, tags):
    Image.new("RGB", (16, 16)).save(tmp_path / "camera.dng", format="TIFF", tiffinfo=tags)
    with pytest.raises(InputError, match=r"camera\.dng is a camera's raw file.*export it as JPEG"):
        probe_image(tmp_path / "camera.dng")


def test_what_cannot_be_opened_is_told(tmp_path):
    with pytest.raises(InputError, match=r"absent\.png cannot be read \(No such file"):
        probe_image(tmp_path / "absent.png")
    with pytest.raises(InputError, match=r"cannot be read \(Is a directory\)"):
        probe_image(tmp_path)


@pytest.mark.timeout(20)
def test_a_pipe_is_refused_instead_of_waited_for(tmp_path):
    os.mkfifo(tmp_path / "photo.png")
    with pytest.raises(InputError, match=r"photo\.png is not a file but a pipe"):
        probe_image(tmp_path / "photo.png")


def test_text_that_pillow_refuses_is_told(tmp_path):
    text = PngInfo()
    text.add_text("Comment", "a" * 2_000_000, zip=True)
    Image.new("RGB", (9, 9)).save(tmp_path / "photo.png", pnginfo=text)
    with pytest.raises(InputError, match=r"photo\.png is damaged \(.*MAX_TEXT_CHUNK"):
        probe_image(tmp_path / "photo.png")


def png_header(width: int, height: int) -> bytes:
    """A PNG file that announces a size and holds nothing of it."""
    content = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = b"IDAT" + zlib.compress(b"\0")
    chunks = (content, data, b"IEND")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) for chunk in chunks
    )


@pytest.mark.parametrize("size", [(9000, 9000), (40_000, 40_000), (2_000_000_000, 1)])
def test_a_picture_too_large_for_memory_is_refused_undecoded(tmp_path, size):
    (tmp_path / "large.png").write_bytes(png_header(*size))
    for read in (probe_image, load_photo):
        with pytest.raises(InputError, match=r"large\.png has over 80 million pixels: make it smaller"):
            read(tmp_path / "large.png")


def test_the_largest_pictures_are_told_in_pixels_not_in_bytes(tmp_path, monkeypatch):
    Image.new("RGB", (40, 24)).save(tmp_path / "photo.png")
    monkeypatch.setattr(picture_file, "MOST_PIXELS", 959)
    with pytest.raises(InputError, match="million pixels"):
        load_photo(tmp_path / "photo.png")
    monkeypatch.setattr(picture_file, "MOST_PIXELS", 960)
    assert load_photo(tmp_path / "photo.png").pixels.shape == (24, 40, 3)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "AVIF", "TIFF", "GIF", "BMP", "JPEG2000"])
def test_damage_anywhere_is_a_sentence_or_a_picture(tmp_path, capfd, kind):
    options = {"compression": "tiff_lzw"} if kind == "TIFF" else {}
    Image.effect_noise((32, 32), 90).convert("RGB").save(tmp_path / "whole", format=kind, **options)
    data = (tmp_path / "whole").read_bytes()
    random = np.random.default_rng(11)
    for _ in range(25):
        damaged = bytearray(data)
        for place in random.integers(4, len(data), 6):
            damaged[place] = random.integers(256)
        (tmp_path / "damaged").write_bytes(damaged)
        try:
            load_photo(tmp_path / "damaged")
        except InputError as error:
            assert "\n" not in error.message
    assert capfd.readouterr() == ("", "")
