"""Pixels of all kinds as eight bits of RGB, and opacity apart from them."""

import io
import struct
import zlib

import cv2
import numpy as np
import pytest
from PIL import Image

from avatar_cli.media.image_in import load_photo

DEEP = np.array([[0, 0x2000, 0x4000, 0x8000, 0xC000, 0xFFFF]], np.uint16)
LEVELS = np.array([0, 32, 64, 128, 191, 255])


def gradient(height=24, width=40) -> np.ndarray:
    rows, columns = np.mgrid[0:height, 0:width]
    return np.stack([rows * 10, columns * 6, np.full_like(rows, 90)], axis=2).astype(np.uint8)


def written(path, pixels):
    """By OpenCV, which writes sixteen bits a channel and floating-point numbers; [H, W] or [H, W, RGB(A)]."""
    order = [2, 1, 0, 3][: pixels.shape[2]] if pixels.ndim == 3 else None
    assert cv2.imwrite(str(path), pixels if order is None else np.ascontiguousarray(pixels[..., order]))
    return path


@pytest.mark.parametrize("suffix", ["png", "tif", "pgm"])
def test_sixteen_bit_gray_is_scaled_not_clipped(tmp_path, suffix):
    pixels = load_photo(written(tmp_path / f"deep.{suffix}", DEEP)).pixels
    assert np.abs(pixels[0].astype(int) - LEVELS[:, None]).max() <= 1


def test_sixteen_bit_gray_of_the_other_byte_order(tmp_path):
    Image.frombytes("I;16B", (6, 1), DEEP.astype(">u2").tobytes()).save(tmp_path / "deep.tif")
    assert np.abs(load_photo(tmp_path / "deep.tif").pixels[0].astype(int) - LEVELS[:, None]).max() <= 1


@pytest.mark.parametrize("suffix", ["png", "tif", "ppm"])
def test_sixteen_bit_colour_is_scaled(tmp_path, suffix):
    colour = np.stack([DEEP, DEEP[:, ::-1], DEEP // 2], axis=-1)
    pixels = load_photo(written(tmp_path / f"deep.{suffix}", colour)).pixels
    assert np.abs(pixels[0].astype(int) - np.stack([LEVELS, LEVELS[::-1], LEVELS // 2], -1)).max() <= 1


@pytest.mark.parametrize("suffix", ["png", "tif"])
def test_sixteen_bit_opacity_is_scaled(tmp_path, suffix):
    pixels = np.stack([np.full_like(DEEP, 0x8000)] * 3 + [DEEP], axis=-1)
    photo = load_photo(written(tmp_path / f"deep.{suffix}", pixels))
    assert np.abs(photo.opacity[0].astype(int) - LEVELS).max() <= 1
    assert np.abs(photo.pixels[0, 1:].astype(int) - 128).max() <= 3


@pytest.mark.parametrize("white", [1.0, 255.0, 65535.0, 4e6])
def test_floating_point_brightness_is_scaled_to_its_white(tmp_path, white):
    written(tmp_path / "float.tif", (np.array([[-0.5, 0, 0.25, 0.5, 1]]) * white).astype(np.float32))
    pixels = load_photo(tmp_path / "float.tif").pixels
    assert np.abs(pixels[0, :, 0].astype(int) - [0, 0, 64, 128, 255]).max() <= 1


def test_what_is_no_number_is_black_and_stops_nothing(tmp_path):
    written(tmp_path / "float.tif", np.array([[np.nan, 0.5, 1.0]], np.float32))
    assert load_photo(tmp_path / "float.tif").pixels[0, :, 0].tolist() == [0, 128, 255]


@pytest.mark.parametrize(("brightest", "level"), [(255, 100), (65535, 100), (2**31 - 1, 100)])
def test_whole_numbers_of_32_bits_are_scaled_to_their_white(tmp_path, brightest, level):
    values = np.array([[0, round(brightest * level / 255), brightest]], np.int32)
    Image.fromarray(values).save(tmp_path / "int.tif")
    pixels = load_photo(tmp_path / "int.tif").pixels
    assert np.abs(pixels[0, :, 0].astype(int) - [0, level, 255]).max() <= 1


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr"])
def test_every_kind_of_pixel_becomes_rgb(tmp_path, mode):
    image = Image.fromarray(gradient())
    image = image.convert("P").convert("PA") if mode == "PA" else image.convert(mode)
    path = tmp_path / ("photo.tif" if mode in ("CMYK", "YCbCr", "PA") else "photo.png")
    image.save(path)
    photo = load_photo(path)
    assert (photo.pixels.dtype, photo.pixels.shape, photo.opacity) == (np.uint8, (24, 40, 3), None)
    assert np.abs(photo.pixels.astype(int) - image.convert("RGB")).max() <= 2
    photo.pixels[0, 0] = 1  # the caller's own, writable


def test_opacity_is_kept_and_colours_are_not_blended_with_it(tmp_path):
    pixels = np.full((2, 3, 4), 200, np.uint8)
    pixels[..., 3] = (0, 128, 255)
    Image.fromarray(pixels).save(tmp_path / "cut.png")
    photo = load_photo(tmp_path / "cut.png")
    assert (photo.pixels == 200).all()
    assert photo.opacity.tolist() == [[0, 128, 255]] * 2


@pytest.mark.parametrize("suffix", ["png", "webp", "tif", "tga", "avif"])
def test_opacity_of_every_format_that_has_it(tmp_path, suffix):
    pixels = np.dstack([gradient(), np.linspace(0, 255, 24 * 40).reshape(24, 40)]).astype(np.uint8)
    quality = {"webp": {"lossless": True}, "avif": {"quality": 100}}
    Image.fromarray(pixels).save(tmp_path / f"cut.{suffix}", **quality.get(suffix, {}))
    assert np.abs(load_photo(tmp_path / f"cut.{suffix}").opacity.astype(int) - pixels[..., 3]).max() <= 1


def test_premultiplied_colours_are_divided_again(tmp_path):
    """TIFF's associated alpha (TIFF 6.0, section 18) stores the product of colour and opacity."""
    plain = np.full((4, 4, 4), 100, np.uint8)
    plain[..., :3] = (80, 40, 20)
    Image.fromarray(plain).save(tmp_path / "cut.tif")
    data = (tmp_path / "cut.tif").read_bytes()
    entry = struct.pack("<HHIH", 338, 3, 1, 2)
    assert data.count(entry) == 1
    (tmp_path / "cut.tif").write_bytes(data.replace(entry, struct.pack("<HHIH", 338, 3, 1, 1)))
    photo = load_photo(tmp_path / "cut.tif")
    assert np.abs(photo.pixels.astype(int) - np.array([80, 40, 20]) * 255 / 100).max() <= 2
    assert (photo.opacity == 100).all()


def test_gray_with_opacity(tmp_path):
    Image.fromarray(np.array([[[50, 0], [60, 255]]], np.uint8), mode="LA").save(tmp_path / "gray.png")
    photo = load_photo(tmp_path / "gray.png")
    assert photo.opacity.tolist() == [[0, 255]]
    assert photo.pixels[0, 1].tolist() == [60, 60, 60]


@pytest.mark.parametrize("suffix", ["png", "gif"])
def test_a_transparent_palette_entry_is_invisible(tmp_path, suffix):
    image = Image.fromarray(np.array([[0, 1]], np.uint8), mode="P")
    image.putpalette([10, 20, 30, 200, 100, 50])
    image.save(tmp_path / f"palette.{suffix}", transparency=0)
    photo = load_photo(tmp_path / f"palette.{suffix}")
    assert photo.opacity.tolist() == [[0, 255]]
    assert photo.pixels[0, 1].tolist() == [200, 100, 50]


def test_palette_entries_may_be_half_transparent(tmp_path):
    image = Image.fromarray(np.array([[0, 1, 2]], np.uint8), mode="P")
    image.putpalette([10, 20, 30, 200, 100, 50, 7, 8, 9])
    image.save(tmp_path / "palette.png", transparency=bytes((0, 128, 255)))
    assert load_photo(tmp_path / "palette.png").opacity.tolist() == [[0, 128, 255]]


@pytest.mark.parametrize(
    ("pixels", "transparent"),
    [
        (np.array([[0, 77]], np.uint8), 0),
        (np.array([[[9, 8, 7], [77, 77, 77]]], np.uint8), (9, 8, 7)),
        (np.array([[0x1234, 0x4D4D]], np.uint16), 0x1234),
    ],
)
def test_one_colour_may_be_transparent(tmp_path, pixels, transparent):
    Image.fromarray(pixels).save(tmp_path / "key.png", transparency=transparent)
    photo = load_photo(tmp_path / "key.png")
    assert photo.opacity.tolist() == [[0, 255]]
    assert photo.pixels[0, 1].tolist() == [77, 77, 77]


def test_a_transparent_colour_of_sixteen_bits_stops_nothing(tmp_path):
    """Pillow keeps eight bits of the pixels and sixteen of the colour, so they need not meet."""

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    row = b"\0" + struct.pack(">6H", 0x1234, 0x1234, 0x1234, 0xFFFF, 0x8000, 0)
    file = io.BytesIO(b"\x89PNG\r\n\x1a\n")
    file.seek(0, io.SEEK_END)
    file.write(chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 1, 16, 2, 0, 0, 0)))
    file.write(chunk(b"tRNS", struct.pack(">3H", 0x1234, 0x1234, 0x1234)))
    file.write(chunk(b"IDAT", zlib.compress(row)) + chunk(b"IEND", b""))
    (tmp_path / "key.png").write_bytes(file.getvalue())
    assert load_photo(tmp_path / "key.png").pixels[0, 1].tolist() == [255, 128, 0]
