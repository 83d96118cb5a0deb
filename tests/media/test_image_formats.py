"""Files of every format: whole, wrongly named, with several pictures, turned, and cut."""

import struct

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from avatar_cli.media.image_in import ImageInfo, load_photo, probe_image
from avatar_cli.media.picture_file import FORMATS
from avatar_cli.media.picture_remarks import picture_remarks
from avatar_cli.protocol.errors import InputError

# Format in Pillow's words, how it is saved, and by how many levels it may be off.
SAVED = {
    "jpeg": ("JPEG", {"quality": 100, "subsampling": 0}, 6),
    "progressive jpeg": ("JPEG", {"quality": 100, "subsampling": 0, "progressive": True}, 6),
    "mpo": ("MPO", {"quality": 100, "subsampling": 0, "save_all": True}, 6),
    "png": ("PNG", {}, 0),
    "interlaced gray png": ("PNG", {}, 0),
    "webp": ("WEBP", {"lossless": True}, 0),
    "lossy webp": ("WEBP", {"quality": 100}, 16),
    "avif": ("AVIF", {"quality": 100, "subsampling": "4:4:4"}, 6),
    "bmp": ("BMP", {}, 0),
    "tiff": ("TIFF", {}, 0),
    "lzw tiff": ("TIFF", {"compression": "tiff_lzw"}, 0),
    "deflate tiff": ("TIFF", {"compression": "tiff_adobe_deflate"}, 0),
    "packbits tiff": ("TIFF", {"compression": "packbits"}, 0),
    "jpeg tiff": ("TIFF", {"compression": "jpeg", "quality": 100}, 16),
    "ppm": ("PPM", {}, 0),
    "tga": ("TGA", {}, 0),
    "rle tga": ("TGA", {"compression": "tga_rle"}, 0),
    "ico": ("ICO", {"sizes": [(40, 24)]}, 0),
    "jpeg 2000": ("JPEG2000", {}, 0),
    "pcx": ("PCX", {}, 0),
    "sgi": ("SGI", {}, 0),
    "dds": ("DDS", {}, 0),
    "dib": ("DIB", {}, 0),
}
ORIENTATION = 0x0112


def gradient(height=24, width=40) -> np.ndarray:
    rows, columns = np.mgrid[0:height, 0:width]
    return np.stack([rows * 10, columns * 6, np.full_like(rows, 90)], axis=2).astype(np.uint8)


def turned(upright: np.ndarray, orientation: int) -> np.ndarray:
    """The stored pixels that a viewer turns upright by the EXIF tag (Exif 2.32, 4.6.4)."""
    ways = {
        1: lambda a: a,
        2: lambda a: a[:, ::-1],
        3: lambda a: a[::-1, ::-1],
        4: lambda a: a[::-1],
        5: lambda a: a.transpose(1, 0, 2),
        6: lambda a: np.rot90(a, 1),
        7: lambda a: a[::-1, ::-1].transpose(1, 0, 2),
        8: lambda a: np.rot90(a, -1),
    }
    return np.ascontiguousarray(ways[orientation](upright))


def test_the_formats_are_ones_that_this_pillow_has():
    Image.init()
    assert set(FORMATS) <= set(Image.OPEN)
    assert {"EPS", "WMF", "MPEG"}.isdisjoint(FORMATS)


@pytest.mark.parametrize("name", SAVED)
def test_a_picture_is_read_by_its_content_whatever_its_name(tmp_path, name):
    kind, options, levels = SAVED[name]
    for path in (tmp_path / "picture", tmp_path / "picture.jpg", tmp_path / "picture.eps"):
        Image.fromarray(gradient()).save(path, format=kind, **options)
        assert probe_image(path) == ImageInfo(width=40, height=24)
        photo = load_photo(path, (1280, 720))
        assert photo.opacity is None
        assert np.abs(photo.pixels.astype(int) - gradient()).max() <= levels
        assert picture_remarks(path) == ()


@pytest.mark.parametrize("name", SAVED)
@pytest.mark.parametrize("share", [0.0, 0.02, 0.2, 0.5, 0.9, 0.98])
def test_a_cut_file_is_told_before_anything_is_computed(tmp_path, capfd, name, share):
    """Or else it lacks nothing that is seen, as an index at the end of the file."""
    kind, options, _ = SAVED[name]
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 256, (90, 90, 3), np.uint8))
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    noise.save(whole, format=kind, **({**options, "sizes": [(90, 90)]} if kind == "ICO" else options))
    data = whole.read_bytes()
    cut.write_bytes(data[: int(len(data) * share)])
    try:
        probe_image(cut)
    except InputError as error:
        assert str(cut) in error.message
        assert "\n" not in error.message
        with pytest.raises(InputError):
            load_photo(cut)
    else:
        assert share == 0.98
        assert np.array_equal(load_photo(cut).pixels, load_photo(whole).pixels)
    assert capfd.readouterr() == ("", ""), "decoders print nothing"


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("suffix", ["png", "jpg", "webp", "tif", "avif"])
def test_exif_orientation_is_undone(tmp_path, orientation, suffix):
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    path = tmp_path / f"photo.{suffix}"
    exact = {"webp": {"lossless": True}, "png": {}, "tif": {}}
    options = exact.get(suffix, {"quality": 100, "subsampling": 0 if suffix == "jpg" else "4:4:4"})
    Image.fromarray(turned(gradient(), orientation)).save(path, exif=exif, **options)
    assert probe_image(path) == ImageInfo(width=40, height=24)
    off = np.abs(load_photo(path).pixels.astype(int) - gradient()).max()
    assert off <= (0 if suffix in exact else 6)


@pytest.mark.parametrize("exif", [b"Exif\0\0nonsense", b"Exif\0\0II*\0\xff\xff\xff\xff", b"Exif\0\0"])
def test_broken_exif_leaves_the_picture_as_it_is_stored(tmp_path, exif):
    Image.fromarray(gradient()).save(tmp_path / "photo.jpg", exif=exif)
    assert probe_image(tmp_path / "photo.jpg") == ImageInfo(width=40, height=24)
    assert load_photo(tmp_path / "photo.jpg").pixels.shape == (24, 40, 3)


def test_broken_exif_of_a_png_too(tmp_path):
    text = PngInfo()
    text.add_text("Raw profile type exif", "\nexif\n4\nno digits")
    Image.fromarray(gradient()).save(tmp_path / "photo.png", pnginfo=text)
    assert np.array_equal(load_photo(tmp_path / "photo.png").pixels, gradient())


@pytest.mark.parametrize("suffix", ["gif", "webp", "png", "tif", "avif"])
def test_the_first_of_several_pictures_is_used_and_told(tmp_path, suffix):
    levels = (200, 100, 0)
    first, *rest = (Image.new("RGB", (40, 24), (level, 60, 60)) for level in levels)
    path = tmp_path / f"several.{suffix}"
    first.save(path, save_all=True, append_images=rest, **({"lossless": True} if suffix == "webp" else {}))
    assert np.abs(load_photo(path).pixels.astype(int) - [200, 60, 60]).max() <= 3
    (remark,) = picture_remarks(path)
    assert str(path) in remark
    assert "first" in remark


def test_the_depth_map_of_a_phone_is_no_second_picture(tmp_path):
    photo, depth = Image.fromarray(gradient()), Image.new("L", (40, 24), 9)
    photo.save(tmp_path / "phone.jpg", format="MPO", save_all=True, append_images=[depth])
    assert Image.open(tmp_path / "phone.jpg").n_frames == 2
    assert np.abs(load_photo(tmp_path / "phone.jpg").pixels.astype(int) - gradient()).mean() < 8
    assert picture_remarks(tmp_path / "phone.jpg") == ()


def test_a_first_frame_smaller_than_the_picture_is_transparent_around(tmp_path):
    frame = Image.new("P", (40, 24), 1)
    frame.putpalette([0, 0, 0, 200, 100, 50])
    frame.save(tmp_path / "small.gif")
    data = bytearray((tmp_path / "small.gif").read_bytes())
    data[6:10] = struct.pack("<HH", 50, 30)  # the screen (GIF89a, 18)
    (tmp_path / "small.gif").write_bytes(bytes(data))
    photo = load_photo(tmp_path / "small.gif")
    assert photo.pixels.shape == (30, 50, 3)
    assert (photo.pixels[:24, :40] == (200, 100, 50)).all()


def test_a_tiled_tiff(tmp_path):
    """Pillow writes strips only: here are four tiles of 16 by 16 (TIFF 6.0, section 15)."""
    tiles = np.zeros((2, 2, 16, 16, 3), np.uint8)
    for row, column in np.ndindex(2, 2):
        part = gradient()[16 * row : 16 * row + 16, 16 * column : 16 * column + 16]
        tiles[row, column, : part.shape[0], : part.shape[1]] = part
    size = 16 * 16 * 3
    entries = [
        (256, 3, 1, 32),
        (257, 3, 1, 24),
        (258, 3, 3, 200),
        (259, 3, 1, 1),
        (262, 3, 1, 2),
        (277, 3, 1, 3),
    ]
    entries += [(322, 3, 1, 16), (323, 3, 1, 16), (324, 4, 4, 208), (325, 4, 4, 224)]
    file = b"II*\0" + struct.pack("<IH", 8, len(entries))
    file += b"".join(struct.pack("<HHII", *entry) for entry in entries) + bytes(4)
    file = file.ljust(200, b"\0") + struct.pack("<3H", 8, 8, 8) + bytes(2)
    file += struct.pack("<4I", *(256 + size * index for index in range(4))) + struct.pack("<4I", *[size] * 4)
    (tmp_path / "tiled.tif").write_bytes(file.ljust(256, b"\0") + tiles.tobytes())
    assert np.array_equal(load_photo(tmp_path / "tiled.tif").pixels, gradient()[:, :32])
