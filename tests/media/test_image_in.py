"""The real pictures: all load, and what was made of one photo looks like it."""

import numpy as np
import pytest

from avatar_cli.media.image_in import Photo, load_photo, probe_image
from avatar_cli.protocol.errors import InputError

GREEN = (0, 255, 0)
REFUSED = {"e_text.png": "not a picture", "e_truncated.jpg": "damaged", "e_zero_bytes.png": "empty"}
SAME_PHOTO = {  # made from the other one
    "v_exif_orient5.jpg": "p03_man_official_dark_skin_teeth.jpg",
    "v_exif_orient6.jpg": "p03_man_official_dark_skin_teeth.jpg",
    "v_exif_orient6.webp": "p02_grace_hopper_glasses_closed.jpg",
    "v_progressive.jpg": "p03_man_official_dark_skin_teeth.jpg",
    "v_cmyk.jpg": "p02_grace_hopper_glasses_closed.jpg",
    "v_16bit_rgb.png": "p01_astronaut_smile_teeth.png",
    "v_palette64.png": "p01_astronaut_smile_teeth.png",
    "v_animated.gif": "p01_astronaut_smile_teeth.png",
    "v.bmp": "p01_astronaut_smile_teeth.png",
    "v_wrong_ext.jpg": "p01_astronaut_smile_teeth.png",
    "v_alpha_half.png": "p01_astronaut_smile_teeth.png",
}
MAY_LOOK_THROUGH = ("v_alpha_cutout.png", "v_alpha_half.png")


def over_green(photo: Photo) -> np.ndarray:
    if photo.opacity is None:
        return photo.pixels
    weight = photo.opacity[..., None] / 255
    return np.rint(photo.pixels * weight + np.array(GREEN) * (1 - weight)).astype(np.uint8)


def test_real_pictures_load_or_are_refused_in_a_sentence(media):
    refused = {}
    for path in sorted((media / "portraits").iterdir()):
        try:
            info = probe_image(path)
        except InputError as error:
            refused[path.name] = error.message
            continue
        photo = load_photo(path, (1280, 720))
        assert photo.pixels.shape == ((2560, 2560, 3) if info.width > 6000 else (info.height, info.width, 3))
        assert photo.pixels.std() > 1, path.name
        assert (photo.opacity is not None) == (path.name in MAY_LOOK_THROUGH), path.name
    assert refused.keys() == REFUSED.keys()
    assert all(REFUSED[name] in message for name, message in refused.items()), refused


@pytest.mark.parametrize(("name", "source"), SAME_PHOTO.items())
def test_variants_of_a_photo_look_like_it(media, name, source):
    ours = load_photo(media / "portraits" / name).pixels
    theirs = load_photo(media / "portraits" / source).pixels
    assert ours.shape == theirs.shape
    assert np.abs(ours.astype(int) - theirs).mean() < 8


def test_a_real_cut_out_shows_what_is_behind_it(media):
    photo = load_photo(media / "portraits" / "v_alpha_cutout.png")
    seen = over_green(photo)
    assert (seen[photo.opacity == 0] == GREEN).all()
    solid = photo.opacity == 255
    assert 0.2 < solid.mean() < 0.9
    assert np.array_equal(seen[solid], photo.pixels[solid])
