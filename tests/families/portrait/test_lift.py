from fractions import Fraction

import numpy as np
import pytest
import torch

from avatar_cli.families.portrait.latents import CHANNELS, MOUTH, MOUTH_SLICE
from avatar_cli.families.portrait.lift import drawn_latents
from avatar_cli.families.portrait.person_mask import PersonMasker
from avatar_cli.families.portrait.reference import encode_reference
from avatar_cli.families.portrait.training.reading import Reading, fit_reading, read_drawn_mouths
from avatar_cli.media.background import load_background
from avatar_cli.media.image_in import load_photo
from avatar_cli.protocol.job import Fit, Picture

GAP, WIDTH, JAW = (MOUTH.index(name) for name in ("gap", "width", "jaw_drop"))


def test_a_mouth_at_rest_is_drawn_at_rest():
    assert not drawn_latents(torch.zeros(3, len(CHANNELS))).any()


def test_width_and_jaw_are_drawn_larger_and_all_else_as_asked():
    asked = torch.zeros(len(MOUTH), len(CHANNELS))
    asked[:, MOUTH_SLICE] = torch.eye(len(MOUTH)) * 0.1
    drawn = drawn_latents(asked)
    assert drawn[WIDTH, WIDTH] > 0.12 and drawn[JAW, JAW] > 0.12
    assert drawn[GAP, WIDTH] < 0 and drawn[GAP, JAW] < 0  # an opening is read as some width and jaw
    others = [index for index in range(len(CHANNELS)) if index not in (WIDTH, JAW)]
    assert torch.equal(drawn[:, others], asked[:, others])
    assert not torch.equal(drawn, asked) and asked[WIDTH, WIDTH] == pytest.approx(0.1)


def test_the_matrix_of_readings_is_found_again():
    rng = np.random.default_rng(0)
    shares = np.eye(9)
    shares[WIDTH, WIDTH], shares[WIDTH, GAP] = 0.7, 0.2
    readings = []
    for _ in range(3):
        drawn = rng.normal(0, 0.05, (50, 9)).astype(np.float32)
        readings.append(Reading(drawn, (drawn @ shares.T + rng.normal(0, 1, 9)).astype(np.float32)))
    assert np.abs(fit_reading(readings, 1e-6) - shares).max() < 1e-3


def test_the_width_of_a_drawn_mouth_is_read_as_asked(media, tracker, one_thread):
    """Of a person whose picture the shares were not fitted to."""
    picture = Picture(width=640, height=360, fps=Fraction(25), fit=Fit.CROP, background="black", face=None)
    scene = load_background(picture.background, picture.width, picture.height)
    photo = load_photo(media / "portraits" / "p43_woman_street_720p.png")
    reference = encode_reference(photo, scene, picture, tracker, PersonMasker())
    asked = torch.zeros(16, len(CHANNELS))
    rng = np.random.default_rng(1)
    for channel, size in ((GAP, 0.06), (WIDTH, 0.04), (JAW, 0.04)):
        asked[:, channel] = torch.from_numpy(rng.normal(0 if channel == WIDTH else size, size / 2, 16))
    wanted = asked[:, WIDTH].numpy()

    def error(relative):
        read = read_drawn_mouths(reference, (relative.numpy() + reference.rest)[:, MOUTH_SLICE]).read
        return np.std(read[:, WIDTH] - wanted)

    assert error(drawn_latents(asked)) < 0.7 * error(asked)
