"""Colours of pictures with an ICC profile, against values computed here from the profile's own numbers."""

import numpy as np
import pytest
from PIL import Image, ImageCms

from avatar_cli.media.image_in import load_photo
from avatar_cli.media.picture_remarks import picture_remarks
from avatar_cli.media.srgb import plain_conversion, srgb_conversion
from tests.media.icc_profiles import (
    ADOBE_RGB,
    DISPLAY_P3,
    cmyk_profile,
    gamma,
    gray_profile,
    lab_as_srgb,
    matrix_profile,
    srgb_curve,
    to_linear,
    xyz_as_srgb,
)

LOSSLESS = {
    "png": {},
    "webp": {"lossless": True},
    "tif": {},
    "avif": {"quality": 100, "subsampling": "4:4:4"},
    "jpg": {"quality": 100, "subsampling": 0},
}


def colours() -> np.ndarray:
    """Muted colours in blocks of 16 pixels, as JPEG keeps them: uint8 [16, 16 * 27, 3]."""
    levels = (70, 128, 190)
    each = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(1, 27, 3).astype(np.uint8)
    return each.repeat(16, axis=0).repeat(16, axis=1)


def saved(path, pixels, icc):
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    image.save(path, icc_profile=icc, **LOSSLESS[path.suffix[1:]])
    return path


def worst(photo, expected) -> float:
    """Largest distance in levels over the middles of the blocks, where sRGB can show the colour."""
    shown = (expected >= 0).all(axis=-1) & (expected <= 255).all(axis=-1)
    assert shown.mean() > 0.7
    return np.abs(photo.pixels - expected)[shown].max()


@pytest.mark.parametrize("suffix", LOSSLESS)
@pytest.mark.parametrize(
    ("to_xyz", "curve", "linear"),
    [
        (DISPLAY_P3, srgb_curve(), to_linear),
        (ADOBE_RGB, gamma(563 / 256), lambda encoded: encoded ** (563 / 256)),
    ],
    ids=["Display P3", "Adobe RGB"],
)
def test_wide_colours_become_those_of_srgb(tmp_path, suffix, to_xyz, curve, linear):
    path = saved(tmp_path / f"wide.{suffix}", colours(), matrix_profile(to_xyz, curve))
    expected = xyz_as_srgb(linear(colours() / 255) @ to_xyz.T)
    assert np.abs(expected - colours()).max() > 15, "the profile must matter"
    assert worst(load_photo(path), expected) <= (2 if suffix not in ("jpg", "avif") else 4)
    assert picture_remarks(path) == ()


def test_the_colours_behind_transparency_are_converted_and_the_opacity_is_kept(tmp_path):
    opacity = np.linspace(1, 254, colours().shape[1]).astype(np.uint8) * np.ones((16, 1), np.uint8)
    path = saved(
        tmp_path / "cut.png", np.dstack([colours(), opacity]), matrix_profile(DISPLAY_P3, srgb_curve())
    )
    photo = load_photo(path)
    assert worst(photo, xyz_as_srgb(to_linear(colours() / 255) @ DISPLAY_P3.T)) <= 2
    assert np.array_equal(photo.opacity, opacity)


def test_a_palette_has_the_profile_of_its_picture(tmp_path):
    image = Image.fromarray(colours()).quantize(32, dither=Image.Dither.NONE)
    path = saved(tmp_path / "palette.png", image, matrix_profile(DISPLAY_P3, srgb_curve()))
    held = np.asarray(image.convert("RGB"))
    assert worst(load_photo(path), xyz_as_srgb(to_linear(held / 255) @ DISPLAY_P3.T)) <= 2


@pytest.mark.parametrize("has_alpha", [False, True])
def test_a_gray_profile_is_applied(tmp_path, has_alpha):
    gray = Image.fromarray(np.arange(30, 256, dtype=np.uint8)[None])
    if has_alpha:
        gray.putalpha(200)
    path = saved(tmp_path / "gray.png", gray, gray_profile(1.0))
    expected = xyz_as_srgb(np.arange(30, 256)[:, None] / 255 * np.array([0.9642, 1, 0.8249]))
    assert np.abs(load_photo(path).pixels[0] - expected).max() <= 2


def test_a_gray_picture_may_have_a_profile_for_rgb(tmp_path):
    gray = np.arange(256, dtype=np.uint8)[None]
    path = saved(tmp_path / "gray.png", gray, matrix_profile(ADOBE_RGB, gamma(1.0)))
    expected = xyz_as_srgb(np.arange(256)[:, None] / 255 * ADOBE_RGB.sum(axis=1))
    assert np.abs(load_photo(path).pixels[0] - expected).max() <= 2
    assert picture_remarks(path) == ()


def test_a_srgb_profile_changes_nothing(tmp_path):
    icc = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    path = saved(tmp_path / "srgb.png", colours(), icc)
    with Image.open(path) as image:
        assert srgb_conversion(image) is plain_conversion
    assert np.array_equal(load_photo(path).pixels, colours())


def ink_corners() -> np.ndarray:
    """Lab of full inks in the scale of a table of bytes: lightness 0..255, and the axes around 128."""
    paper = np.array([255, 128, 128])
    ink = np.array([[-60, -20, -30], [-90, 60, -5], [-10, -5, 70], [-230, 0, 0]])
    corners = np.zeros((2, 2, 2, 2, 3))
    for used in np.ndindex(2, 2, 2, 2):
        corners[used] = paper + sum((step for step, is_used in zip(ink, used, strict=True) if is_used), 0)
    return corners.clip(0, 255).astype(np.uint8)


@pytest.mark.parametrize("suffix", ["jpg", "tif"])
def test_inks_are_those_of_the_profile(tmp_path, suffix):
    inks = np.array([[0, 0, 0, 0], [255, 0, 0, 0], [0, 255, 0, 0], [0, 0, 255, 0]], np.uint8)
    image = Image.fromarray(inks.repeat(16, axis=0)[None].repeat(16, axis=0), mode="CMYK")
    path = saved(tmp_path / f"inks.{suffix}", image, cmyk_profile(ink_corners()))
    corners = [ink_corners()[tuple(ink // 255)] for ink in inks]
    lab = [(lightness * 100 / 255, a - 128.0, b - 128.0) for lightness, a, b in np.array(corners, float)]
    expected = lab_as_srgb(lab)
    assert np.abs(load_photo(path).pixels[8, 8::16] - expected.clip(0, 255)).max() <= 3


def test_inks_without_a_profile_are_mixed_plainly(tmp_path):
    inks = np.array([[0, 0, 0, 0], [255, 0, 0, 0], [0, 0, 0, 255], [0, 128, 0, 0]], np.uint8)
    image = Image.fromarray(inks.repeat(16, axis=0)[None].repeat(16, axis=0), mode="CMYK")
    pixels = load_photo(saved(tmp_path / "inks.jpg", image, None)).pixels[8, 8::16].astype(int)
    assert np.abs(pixels - [[255, 255, 255], [0, 255, 255], [0, 0, 0], [255, 127, 255]]).max() <= 2


def test_lab_pictures_have_their_colours(tmp_path):
    to_lab = ImageCms.buildTransform(
        ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB"), "RGB", "LAB"
    )
    lab = ImageCms.applyTransform(Image.fromarray(colours()), to_lab)
    lab.save(tmp_path / "lab.tif", icc_profile=matrix_profile(DISPLAY_P3, srgb_curve()))  # of no meaning here
    assert (
        np.abs(load_photo(tmp_path / "lab.tif").pixels.astype(int) - colours()).max() <= 6
    )  # whole steps of a and b


@pytest.mark.parametrize(
    ("icc", "reason"),
    [
        (b"no profile at all", "damaged"),
        (matrix_profile(DISPLAY_P3, srgb_curve())[:300], "damaged"),
        (gray_profile(2.2), "GRAY"),
        (cmyk_profile(ink_corners()), "CMYK"),
    ],
)
def test_a_profile_that_cannot_be_used_is_told_and_left_out(tmp_path, icc, reason):
    path = saved(tmp_path / "photo.png", colours(), icc)
    assert np.array_equal(load_photo(path).pixels, colours())
    (remark,) = picture_remarks(path)
    assert str(path) in remark
    assert reason in remark
