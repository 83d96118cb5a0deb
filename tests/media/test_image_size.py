import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from avatar_cli.media.image_in import load_photo
from avatar_cli.media.loading_size import LEAST_SIDE, ROOM, bands, loading_size

sides = st.integers(1, 60_000)
HD, SMALL = (1280, 720), (64, 64)


@pytest.mark.parametrize(
    ("picture", "enough", "size"),
    [
        ((6144, 6144), HD, (2560, 2560)),
        ((6000, 4000), HD, (2560, 1707)),
        ((4000, 6000), HD, (2560, 3840)),
        ((6144, 6144), (1920, 1080), (3840, 3840)),
        ((2561, 1441), HD, (2560, 1440)),
        ((2560, 1440), HD, (2560, 1440)),
        ((4000, 300), HD, (4000, 300)),
        ((1, 5000), HD, (1, 5000)),
        ((6144, 6144), SMALL, (1440, 1440)),
        ((1024, 1024), SMALL, (1024, 1024)),
        ((6144, 6144), None, (6144, 6144)),
    ],
)
def test_sizes_of_loaded_pictures(picture, enough, size):
    assert loading_size(picture, enough) == size


@given(picture=st.tuples(sides, sides), enough=st.tuples(st.integers(64, 4096), st.integers(64, 4096)))
def test_a_picture_keeps_room_and_shape_and_no_more(picture, enough):
    width, height = loading_size(picture, enough)
    least = [max(ROOM * side, LEAST_SIDE) for side in enough]
    if (width, height) == picture:
        assert picture[0] <= least[0] or picture[1] <= least[1]
        return
    assert width <= picture[0]
    assert height <= picture[1]
    assert width >= least[0]
    assert height >= least[1]
    assert width == least[0] or height == least[1]
    assert abs(width * picture[1] / picture[0] - height) <= max(1, picture[1] / picture[0])


@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA", "CMYK"])
@pytest.mark.parametrize("size", [(1500, 1100), (611, 777), (2000, 1400)])
def test_bands_are_the_resized_whole(mode, size):
    noise = np.random.default_rng(3).integers(0, 256, (1400, 2000, Image.getmodebands(mode)), np.uint8)
    if mode in ("LA", "RGBA"):
        noise[..., -1] |= 0x80  # little opacity would magnify roundings
    image = Image.frombytes(mode, (2000, 1400), noise.tobytes())
    pieces = list(bands(image, size, prepare=lambda piece: piece))
    assert len(pieces) > 2
    assert [piece[0].start for piece in pieces[1:]] == [piece[0].stop for piece in pieces[:-1]]
    joined = np.concatenate([np.asarray(piece) for _, piece in pieces])
    whole = np.asarray(image.resize(size, Image.Resampling.HAMMING))
    assert joined.shape == whole.shape
    assert np.abs(joined.astype(int) - whole).max() <= (2 if mode in ("LA", "RGBA") else 1)


@pytest.fixture(scope="module")
def scene() -> Image.Image:
    """2000 by 3800 pixels, smooth, so that any good way to make it smaller gives the same."""
    spots = np.random.default_rng(5).integers(30, 226, (7, 5, 3), np.uint8)
    return Image.fromarray(spots).resize((2000, 3800), Image.Resampling.BICUBIC)


@pytest.mark.parametrize("suffix", ["jpg", "png", "tif", "webp"])
@pytest.mark.parametrize("orientation", [1, 6])
def test_a_large_picture_is_brought_down_and_stays_the_same(tmp_path, scene, suffix, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    quality = {"png": {"compress_level": 1}, "webp": {"quality": 95, "method": 0}, "jpg": {"quality": 95}}
    scene.save(tmp_path / f"large.{suffix}", exif=exif, **quality.get(suffix, {}))
    photo = load_photo(tmp_path / f"large.{suffix}", (640, 900) if orientation == 1 else (900, 640))
    size = (1440, 2736) if orientation == 1 else (2736, 1440)
    assert photo.pixels.shape == (size[1], size[0], 3)
    upright = scene.transpose(Image.Transpose.ROTATE_270) if orientation == 6 else scene
    distance = np.abs(photo.pixels.astype(np.int16) - upright.resize(size, Image.Resampling.BILINEAR))
    assert distance.mean() < 1
    assert distance.max() <= 6


def test_a_jpeg_picture_is_decoded_at_a_fraction_where_that_is_enough(tmp_path, scene):
    scene.resize((5000, 3000)).save(tmp_path / "large.jpg", quality=90)
    photo = load_photo(tmp_path / "large.jpg", (64, 64))
    expected = scene.resize((2400, 1440), Image.Resampling.BILINEAR)
    assert photo.pixels.shape == (1440, 2400, 3)
    assert np.abs(photo.pixels.astype(np.int16) - expected).mean() < 1.5


def test_a_lying_jpeg_picture_keeps_what_its_upright_sides_need(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("L", (2900, 5800), 90).save(tmp_path / "lying.jpg", exif=exif)
    assert load_photo(tmp_path / "lying.jpg", (64, 1400)).pixels.shape == (2800, 5600, 3)


def test_what_is_invisible_does_not_bleed_into_a_smaller_picture(tmp_path):
    """The colour behind full transparency, here red, must not tint the edge of the person."""
    pixels = np.zeros((1800, 1800, 4), np.uint8)
    pixels[..., 0] = 255
    pixels[:, 903:] = (90, 90, 90, 255)
    Image.fromarray(pixels).save(tmp_path / "cut.png", compress_level=1)
    photo = load_photo(tmp_path / "cut.png", (720, 720))
    assert photo.pixels.shape == (1440, 1440, 3)
    edge = (photo.opacity > 60) & (photo.opacity < 255)
    assert edge.any()
    assert np.abs(photo.pixels[edge].astype(int) - 90).max() <= 4


def test_a_large_palette_is_not_averaged_by_its_numbers(tmp_path):
    colours = np.zeros((2880, 2880), np.uint8)
    colours[::2] = 2
    image = Image.fromarray(colours, mode="P")
    image.putpalette([0, 0, 0, 255, 0, 0, 200, 200, 200])
    image.save(tmp_path / "palette.png")
    photo = load_photo(tmp_path / "palette.png", (720, 720))
    assert photo.pixels.shape == (1440, 1440, 3)
    assert np.abs(photo.pixels[2:-2].astype(int) - 100).max() <= 2


@pytest.mark.parametrize("size", [(1, 1), (1, 5000), (24, 24), (4000, 300)])
def test_any_shape_is_loaded(tmp_path, size):
    Image.new("RGB", size, (10, 200, 30)).save(tmp_path / "shape.png")
    photo = load_photo(tmp_path / "shape.png", HD)
    assert photo.pixels.shape == (size[1], size[0], 3)
    assert (photo.pixels == (10, 200, 30)).all()
