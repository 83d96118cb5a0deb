import numpy as np
import pytest
import torch

from avatar_cli.assets import asset_path
from avatar_cli.families.portrait.audio_encoder import (
    LEFT_CONTEXT_FRAMES,
    LOOK_AHEAD_FRAMES,
    UNITS,
    AudioEncoder,
)
from avatar_cli.families.portrait.audio_features import MELS, SILENCE, frame_level, log_mels
from avatar_cli.families.portrait.latents import MOUTH
from avatar_cli.families.portrait.training.generation import expected_mouth, load_networks
from avatar_cli.media.decoding import read_sound


@pytest.fixture(scope="module")
def encoder():
    torch.manual_seed(0)
    return AudioEncoder().eval()


def mels_of(frames, seed=0):
    return torch.randn(1, 4 * frames, MELS, generator=torch.Generator().manual_seed(seed))


def test_one_token_for_four_mels(encoder):
    tokens = encoder(mels_of(60))
    assert tokens.tokens.shape == (1, 60, encoder.params.width)
    assert tokens.mean.shape == (1, 60, len(MOUTH))
    assert tokens.units.shape == (1, 60, len(UNITS))


@torch.no_grad()
def test_look_ahead_is_heard_to_its_end_and_no_further(encoder):
    mels = mels_of(120)
    changed = mels.clone()
    changed[:, 4 * 100 :] += 1.0
    difference = (encoder(mels).tokens - encoder(changed).tokens).abs().amax(dim=-1)[0]
    assert torch.all(difference[: 100 - LOOK_AHEAD_FRAMES] == 0)
    assert difference[100 - LOOK_AHEAD_FRAMES] > 0


@torch.no_grad()
def test_nothing_before_the_left_context_is_heard(encoder):
    mels = mels_of(120)
    changed = mels.clone()
    changed[:, : 4 * 20] += 1.0
    difference = (encoder(mels).tokens - encoder(changed).tokens).abs().amax(dim=-1)[0]
    assert torch.all(difference[20 + LEFT_CONTEXT_FRAMES :] == 0)


@torch.no_grad()
def test_window_with_its_contexts_gives_the_tokens_of_the_whole(encoder):
    mels = mels_of(200)
    whole = encoder(mels)
    window = encoder(mels[:, 4 * (90 - LEFT_CONTEXT_FRAMES) : 4 * (110 + LOOK_AHEAD_FRAMES)])
    own = slice(LEFT_CONTEXT_FRAMES, -LOOK_AHEAD_FRAMES)
    for part, piece in zip(whole, window, strict=True):
        assert torch.allclose(part[:, 90:110], piece[:, own], atol=1e-5)


@torch.no_grad()
def test_trained_encoder_hears_silence_as_a_closed_resting_mouth():
    encoder = load_networks(asset_path("portrait")).audio
    tokens = encoder(torch.full((1, 4 * 80, MELS), SILENCE))
    inside = slice(LEFT_CONTEXT_FRAMES, -LOOK_AHEAD_FRAMES)
    assert torch.all(tokens.units[:, inside].argmax(dim=-1) == UNITS.index("SIL"))
    assert tokens.mean[:, inside].abs().max() < 0.012


def test_trained_encoder_opens_the_mouth_for_loud_speech_only():
    speech = read_sound(asset_path("demo/speech.wav"))
    gap = expected_mouth(load_networks(asset_path("portrait")), speech)[:, MOUTH.index("gap")]
    level = frame_level(log_mels(speech)).reshape(-1, 4).mean(axis=1)
    assert gap[level > -10].mean() > 0.04
    assert np.abs(gap[level < -40]).mean() < 0.012
