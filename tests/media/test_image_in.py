import os

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from avatar_cli.media import image_in
from avatar_cli.media.image_in import ImageInfo, load_photo, parse_colour, probe_image
from avatar_cli.protocol.errors import InputError, UsageError

GREEN = (0, 255, 0)
ORIENTATION = 0x0112


def gradient(height=24, width=40) -> np.ndarray:
    rows, columns = np.mgrid[0:height, 0:width]
    return np.stack([rows * 10, columns * 6, np.full_like(rows, 90)], axis=2).astype(np.uint8)


def load_image(path, background):
    """The picture over a colour."""
    photo = load_photo(path)
    if photo.opacity is None:
        return photo.pixels
    weight = photo.opacity[..., None] / 255
    return np.rint(photo.pixels * weight + np.array(background) * (1 - weight)).astype(np.uint8)


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


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("suffix", ["png", "jpg"])
def test_exif_orientation_is_undone(tmp_path, orientation, suffix):
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    path = tmp_path / f"photo.{suffix}"
    Image.fromarray(turned(gradient(), orientation)).save(path, exif=exif, quality=100, subsampling=0)
    assert probe_image(path) == ImageInfo(width=40, height=24)
    assert np.abs(load_image(path, GREEN).astype(int) - gradient()).max() <= (6 if suffix == "jpg" else 0)


def test_transparency_shows_the_background(tmp_path):
    pixels = np.zeros((2, 3, 4), np.uint8)
    pixels[:, :, :3] = 200
    pixels[:, 1, 3] = 128
    pixels[:, 2, 3] = 255
    Image.fromarray(pixels).save(tmp_path / "cut.png")
    seen = load_image(tmp_path / "cut.png", GREEN)[0]
    assert np.abs(seen.astype(int) - [[0, 255, 0], [100, 227, 100], [200, 200, 200]]).max() <= 1


def test_a_transparent_palette_entry_shows_the_background(tmp_path):
    image = Image.fromarray(np.array([[0, 1]], np.uint8), mode="P")
    image.putpalette([10, 20, 30, 200, 100, 50])
    image.save(tmp_path / "palette.png", transparency=0)
    assert load_image(tmp_path / "palette.png", GREEN).tolist() == [[[0, 255, 0], [200, 100, 50]]]


def test_a_transparent_colour_of_a_gray_picture_shows_the_background(tmp_path):
    Image.fromarray(np.array([[0, 77]], np.uint8)).save(tmp_path / "gray.png", transparency=0)
    assert load_image(tmp_path / "gray.png", GREEN).tolist() == [[[0, 255, 0], [77, 77, 77]]]


def test_sixteen_bit_gray_is_scaled_not_clipped(tmp_path):
    Image.fromarray(np.array([[0, 0x4000, 0xFFFF]], np.uint16)).save(tmp_path / "deep.png")
    assert load_image(tmp_path / "deep.png", GREEN)[0, :, 0].tolist() == [0, 0x40, 0xFF]


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16", "CMYK"])
def test_every_kind_of_pixel_becomes_rgb(tmp_path, mode):
    image = Image.fromarray(gradient()).convert("L" if mode == "I;16" else mode)
    image = Image.fromarray(np.asarray(image).astype(np.uint16) << 8) if mode == "I;16" else image
    path = tmp_path / ("photo.jpg" if mode == "CMYK" else "photo.png")
    image.save(path)
    pixels = load_image(path, GREEN)
    assert (pixels.dtype, pixels.shape) == (np.uint8, (24, 40, 3))
    assert pixels.std() > 10
    pixels[0, 0] = 1  # the caller's own, writable


def test_the_content_decides_not_the_name(tmp_path):
    Image.fromarray(gradient()).save(tmp_path / "photo.jpg", format="PNG")
    assert np.array_equal(load_image(tmp_path / "photo.jpg", GREEN), gradient())


@pytest.mark.parametrize("suffix", ["png", "jpg"])
@pytest.mark.parametrize("share", [0.02, 0.2, 0.5, 0.9, 0.995])
def test_a_cut_file_is_found_before_anything_is_computed(tmp_path, suffix, share):
    whole = tmp_path / f"whole.{suffix}"
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (90, 90, 3), np.uint8)).save(whole)
    cut = tmp_path / f"cut.{suffix}"
    data = whole.read_bytes()
    cut.write_bytes(data[: int(len(data) * share)])
    for read in (probe_image, lambda path: load_image(path, GREEN)):
        with pytest.raises(InputError, match=rf"cut\.{suffix} is (damaged|not a picture)") as error:
            read(cut)
        assert "\n" not in error.value.message


def test_what_is_no_picture_is_named(tmp_path):
    (tmp_path / "empty.png").touch()
    (tmp_path / "text.jpg").write_text("not a picture")
    Image.fromarray(gradient()).save(tmp_path / "moving.gif")
    for name, message in [
        ("empty.png", r"empty\.png is empty"),
        ("text.jpg", r"text\.jpg is not a picture"),
        ("moving.gif", r"moving\.gif is a GIF picture, which avatar does not read: save it as JPEG or PNG"),
        ("absent.png", r"absent\.png cannot be read \(No such file"),
        (".", r"cannot be read \(Is a directory\)"),
    ]:
        with pytest.raises(InputError, match=message):
            probe_image(tmp_path / name)


@pytest.mark.timeout(20)
def test_a_pipe_is_refused_instead_of_waited_for(tmp_path):
    os.mkfifo(tmp_path / "photo.png")
    with pytest.raises(InputError, match=r"photo\.png is not a file but a pipe"):
        probe_image(tmp_path / "photo.png")


def test_text_that_pillow_refuses_is_told(tmp_path):
    text = PngInfo()
    text.add_text("Comment", "a" * 2_000_000, zip=True)
    Image.fromarray(gradient()).save(tmp_path / "photo.png", pnginfo=text)
    with pytest.raises(InputError, match=r"photo\.png is damaged \(.*MAX_TEXT_CHUNK"):
        probe_image(tmp_path / "photo.png")


def test_too_many_pixels_are_refused_without_decoding(tmp_path, monkeypatch):
    path = tmp_path / "bomb.png"
    Image.new("1", (20000, 20000)).save(path)  # Pillow's own limit
    with pytest.raises(InputError, match="million pixels"):
        probe_image(path)
    Image.fromarray(gradient()).save(path)
    monkeypatch.setattr(image_in, "MOST_PIXELS", 24 * 40 - 1)
    with pytest.raises(InputError, match="million pixels"):
        probe_image(path)


def test_colours():
    assert parse_colour("white") == (255, 255, 255)
    assert parse_colour("#00b140") == (0, 177, 64)
    for text in ("no colour", "#00b14080", ""):
        with pytest.raises(UsageError, match="#rrggbb"):
            parse_colour(text)


REFUSED = {
    "e_text.png": "not a picture",
    "e_truncated.jpg": "damaged",
    "e_zero_bytes.png": "empty",
    "v.bmp": "BMP",
    "v_animated.gif": "GIF",
    "v_exif_orient6.webp": "WEBP",
}
SAME_PERSON_UPRIGHT = {  # made from the same photo: the mean colour must come out alike
    "v_exif_orient5.jpg": "p03_man_official_dark_skin_teeth.jpg",
    "v_exif_orient6.jpg": "p03_man_official_dark_skin_teeth.jpg",
    "v_progressive.jpg": "p03_man_official_dark_skin_teeth.jpg",
    "v_cmyk.jpg": "p02_grace_hopper_glasses_closed.jpg",
    "v_16bit_rgb.png": "p01_astronaut_smile_teeth.png",
    "v_palette64.png": "p01_astronaut_smile_teeth.png",
    "v_wrong_ext.jpg": "p01_astronaut_smile_teeth.png",
}


def test_real_pictures(real_media):
    outcomes = {}
    for path in sorted((real_media / "portraits").iterdir()):
        try:
            info = probe_image(path)
            pixels = load_image(path, GREEN) if info.width < 6000 else None  # one is slow and like the others
        except InputError as error:
            outcomes[path.name] = error.message
            continue
        if pixels is not None:
            assert pixels.shape == (info.height, info.width, 3)
            assert pixels.std() > 1, path.name
    assert outcomes.keys() == REFUSED.keys()
    assert all(REFUSED[name] in message for name, message in outcomes.items()), outcomes


@pytest.mark.parametrize(("name", "source"), SAME_PERSON_UPRIGHT.items())
def test_variants_of_a_photo_look_like_it(real_media, name, source):
    ours = load_image(real_media / "portraits" / name, GREEN)
    theirs = load_image(real_media / "portraits" / source, GREEN)
    assert ours.shape == theirs.shape
    assert np.abs(ours.astype(int) - theirs).mean() < 8
