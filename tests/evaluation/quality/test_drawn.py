import numpy as np
import pytest

from avatar_cli.assets import asset_path
from avatar_cli.evaluation.quality.curves import curves_of
from avatar_cli.evaluation.quality.drawn import load_portrait
from avatar_cli.evaluation.tracks import TRACK_FPS, track_frames
from avatar_cli.families.portrait.latents import CHANNELS
from avatar_cli.protocol.job import Fit, Picture


@pytest.fixture(scope="module")
def portrait():
    picture = Picture(320, 320, TRACK_FPS, Fit.CROP, "black", None)
    return load_portrait(asset_path("demo/reference.png"), picture)


def test_a_mouth_that_is_drawn_opens_as_its_latents_say(portrait):
    latents = np.zeros((6, len(CHANNELS)), np.float32)
    latents[3:, CHANNELS.index("gap")] = latents[3:, CHANNELS.index("jaw_drop")] = 0.15

    frames = list(portrait.draw(latents))
    opening = curves_of(track_frames(frames)).opening

    assert frames[0].shape == (320, 320, 3)
    assert opening[:3].max() < 0.03
    assert opening[3:].min() > 0.1


def test_its_tokens_are_those_of_the_photo(portrait):
    assert portrait.tokens.shape == (1, 128, 12)
