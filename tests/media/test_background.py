import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from avatar_cli.media.background import background_file, load_background, parse_colour, resolve_background
from avatar_cli.protocol.errors import InputError, UsageError


def stripes(width: int, height: int) -> Image.Image:
    """Red, green and blue stripes, upright where the picture is wide, and lying where it is tall."""
    colours = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255]], np.uint8)
    along = max(width, height) // 3
    line = colours.repeat(along, axis=0)
    if width > height:
        return Image.fromarray(np.broadcast_to(line, (height, 3 * along, 3)).copy())
    return Image.fromarray(np.broadcast_to(line[:, None], (3 * along, width, 3)).copy())


def test_colours():
    assert parse_colour("white") == (255, 255, 255)
    assert parse_colour("#00b140") == (0, 177, 64)
    assert parse_colour("rgb(1, 2, 3)") == (1, 2, 3)
    for text in ("no colour", "#00b14080", ""):
        with pytest.raises(UsageError, match="#rrggbb"):
            parse_colour(text)
    with pytest.raises(UsageError, match=r"rgb\(0, 300, 0\).* 0 to 255"):
        parse_colour("rgb(0, 300, 0)")


def test_nothing_asked_for_is_black():
    assert (load_background(resolve_background(None), 8, 6) == np.zeros((6, 8, 3))).all()


def test_a_colour_fills_the_video():
    scene = load_background(resolve_background("#102030"), 8, 6)
    assert (scene.shape, scene.dtype) == ((6, 8, 3), np.uint8)
    assert (scene == (0x10, 0x20, 0x30)).all()
    assert background_file("#102030") is None


def test_a_typing_error_is_told_for_both_readings():
    with pytest.raises(
        UsageError, match=r"--background sceen\.png is neither a colour nor a file.*#rrggbb.*name"
    ):
        resolve_background("sceen.png")


@pytest.mark.parametrize("text", ["", "  "])
def test_nothing_written_is_told(text):
    with pytest.raises(
        UsageError, match=r"--background is empty: write a colour .* or the name of a picture"
    ):
        resolve_background(text)


def test_a_text_too_long_for_a_name_is_no_file():
    with pytest.raises(UsageError, match="neither a colour nor a file"):
        resolve_background("scene" * 1000)


def test_a_word_is_a_colour_and_a_path_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Image.new("RGB", (4, 4), (1, 2, 3)).save(tmp_path / "red", format="PNG")
    assert resolve_background("red") == "red"
    assert resolve_background("./red") == str(tmp_path / "red")
    assert background_file(str(tmp_path / "red")) == tmp_path / "red"
    assert (load_background(resolve_background("./red"), 8, 8) == (1, 2, 3)).all()


@pytest.mark.parametrize(
    ("content", "reason"), [(b"", "empty"), (b"text", "not a picture"), (b"%PDF-1", "PDF")]
)
def test_a_file_that_is_no_picture_is_bad_input(tmp_path, content, reason):
    (tmp_path / "scene.png").write_bytes(content)
    with pytest.raises(InputError, match=rf"scene\.png.* {reason}"):
        resolve_background(str(tmp_path / "scene.png"))


def test_a_picture_in_a_folder_that_may_not_be_searched_is_bad_input(tmp_path):
    if os.getuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root may search every folder, and there is no setpriv to take that right away")
    folder = tmp_path / "locked"
    folder.mkdir()
    stripes(9, 3).save(folder / "scene.png")
    folder.chmod(0)
    rights = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"] if os.getuid() == 0 else []
    code = "import sys; from avatar_cli.media.background import resolve_background as r; r(sys.argv[1])"
    words = [*rights, sys.executable, "-c", code, folder / "scene.png"]
    seen = subprocess.run(words, capture_output=True, text=True, check=False)
    folder.chmod(0o755)
    assert "InputError" in seen.stderr
    assert "scene.png cannot be read (Permission denied): check the name." in seen.stderr


def test_a_name_with_a_zero_byte_is_no_file():
    with pytest.raises(UsageError, match="neither a colour nor a file"):
        resolve_background("scene\0.png")


def test_a_wide_picture_is_cut_left_and_right(tmp_path):
    stripes(900, 100).save(tmp_path / "wide.webp", lossless=True)
    scene = load_background(str(tmp_path / "wide.webp"), 200, 100)
    assert scene.shape == (100, 200, 3)
    assert (scene == (0, 255, 0)).all()


def test_a_tall_picture_is_cut_above_and_below(tmp_path):
    stripes(200, 900).save(tmp_path / "tall.png")
    scene = load_background(str(tmp_path / "tall.png"), 400, 500)
    assert scene.shape == (500, 400, 3)
    assert (scene[100:400] == (0, 255, 0)).all()


def test_a_picture_of_the_same_shape_is_seen_whole(tmp_path):
    stripes(300, 200).save(tmp_path / "same.png")
    scene = load_background(str(tmp_path / "same.png"), 150, 100)
    assert scene[50, [5, 75, 145]].tolist() == [[255, 0, 0], [0, 255, 0], [0, 0, 255]]


@pytest.mark.parametrize("size", [(1, 1), (1, 5000), (5000, 1), (4000, 30)])
def test_any_shape_covers_the_video(tmp_path, size):
    Image.new("RGB", size, (10, 20, 30)).save(tmp_path / "scene.png")
    scene = load_background(str(tmp_path / "scene.png"), 1280, 720)
    assert scene.shape == (720, 1280, 3)
    assert (scene == (10, 20, 30)).all()


def test_a_transparent_picture_is_on_black(tmp_path):
    Image.new("RGBA", (8, 8), (200, 100, 50, 128)).save(tmp_path / "scene.png")
    assert np.abs(load_background(str(tmp_path / "scene.png"), 8, 8).astype(int) - [100, 50, 25]).max() <= 1
