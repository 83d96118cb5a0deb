import pytest
import torch

from avatar_cli.assets import asset_path
from avatar_cli.families.portrait.a2v_dit import MotionDiT, MotionDiTParams, noise_scale
from avatar_cli.families.portrait.audio_encoder import AudioTokens
from avatar_cli.families.portrait.latents import CHANNELS, MOUTH_SLICE, POSE_SLICE
from avatar_cli.families.portrait.text_encoder import intensities
from avatar_cli.families.portrait.training.generation import load_networks
from avatar_cli.runtime.sampler import euler_sample, uniform_schedule

SMALL = MotionDiTParams(width=32, blocks=2, heads=2, audio_width=16, prompt_width=8)


def lively(params=SMALL, seed=0):
    """A network whose zero-initialised layers have values, so that everything has an effect."""
    torch.manual_seed(seed)
    network = MotionDiT(params)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    return network.eval()


def inputs(params=SMALL, frames=14, batch=1, seed=1):
    torch.manual_seed(seed)
    return {
        "x": torch.randn(batch, frames, len(CHANNELS)),
        "t": torch.full((batch,), 0.4),
        "clean": torch.randn(batch, frames, len(CHANNELS)),
        "mask": torch.zeros(batch, frames, 1),
        "positions": torch.arange(frames).expand(batch, -1),
        "audio": AudioTokens(
            torch.randn(batch, frames, params.audio_width),
            0.03 * torch.randn(batch, frames, 9),
            torch.randn(batch, frames, 36),
        ),
        "reference": torch.randn(batch, 128, 12),
        "prompt": torch.randn(batch, frames, params.prompt_width),
        "habits": torch.randn(batch, 5),
    }


def test_untrained_network_predicts_no_velocity():
    assert torch.all(MotionDiT(SMALL)(**inputs()) == 0)


@torch.no_grad()
def test_only_differences_of_positions_matter():
    network, given = lively(), inputs()
    moved = network(**given | {"positions": given["positions"] + 1000})
    assert torch.allclose(moved, network(**given), atol=1e-6)


@torch.no_grad()
def test_a_gap_behind_the_border_changes_the_result():
    network, given = lively(), inputs()
    gapped = given["positions"].clone()
    gapped[:, :4] -= 10
    assert not torch.allclose(network(**given | {"positions": gapped}), network(**given), atol=1e-3)


@torch.no_grad()
def test_frames_are_a_set_that_positions_put_in_order():
    network, given = lively(), inputs()
    order = torch.randperm(14, generator=torch.Generator().manual_seed(0))
    shuffled = given | {name: given[name][:, order] for name in ("x", "clean", "mask", "positions", "prompt")}
    shuffled["audio"] = AudioTokens(*(part[:, order] for part in given["audio"]))
    assert torch.allclose(network(**shuffled), network(**given)[:, order], atol=1e-5)


@torch.no_grad()
def test_clean_frames_count_only_where_the_mask_says_so():
    network, given = lively(), inputs()
    other = given | {"clean": given["clean"] + 1.0}
    assert torch.equal(network(**other), network(**given))
    mask = given["mask"].clone()
    mask[:, :6] = 1
    assert not torch.allclose(network(**other | {"mask": mask}), network(**given | {"mask": mask}), atol=1e-3)


@pytest.mark.parametrize("name", ["t", "reference", "prompt", "habits"])
@torch.no_grad()
def test_every_condition_has_an_effect(name):
    network, given = lively(), inputs()
    changed = network(**given | {name: given[name] * 0.5})
    assert not torch.allclose(changed, network(**given), atol=1e-4)


@torch.no_grad()
def test_order_of_reference_tokens_makes_no_difference():
    network, given = lively(), inputs()
    flipped = network(**given | {"reference": given["reference"].flip(1)})
    assert torch.allclose(flipped, network(**given), atol=1e-5)


def test_noise_is_small_for_the_mouth_only():
    scale = noise_scale()
    assert torch.all(scale[MOUTH_SLICE] < 0.5)
    assert torch.all(scale[MOUTH_SLICE.stop :] == 1)


def test_normalisation_has_an_inverse():
    network = load_networks(asset_path("portrait")).motion
    latents = torch.randn(5, len(CHANNELS))
    assert torch.allclose(network.denormalise(network.normalise(latents)), latents, atol=1e-5)


@torch.no_grad()
def test_what_is_asked_for_in_a_frame_reaches_that_frame_first():
    network, given = lively(), inputs()
    prompt = given["prompt"].clone()
    prompt[:, 9] += 1.0
    change = (network(**given | {"prompt": prompt}) - network(**given)).abs().sum(dim=-1)[0]
    assert change.argmax() == 9


def sampled(networks, reference=None, seed=0, frames=48):
    motion = networks.motion
    torch.manual_seed(seed)
    mels = torch.full((1, 4 * (40 + frames + 8), 48), -2.0)
    mels[:, 160:-32] += torch.rand(1, 4 * frames, 48, generator=torch.Generator().manual_seed(7)) * 2
    audio = AudioTokens(*(part[:, 40:-8] for part in networks.audio(mels)))
    noise = torch.randn(1, frames, len(CHANNELS)) * noise_scale()
    nothing, mask = torch.zeros_like(noise), torch.zeros(1, frames, 1)
    positions = torch.arange(frames)[None]
    tokens = torch.zeros(1, 128, 12) if reference is None else reference
    prompt = networks.text(intensities(())).expand(-1, frames, -1)

    def velocity(x, time):
        return motion(x, time[None], nothing, mask, positions, audio, tokens, prompt, torch.zeros(1, 5))

    return motion.denormalise(euler_sample(velocity, noise, uniform_schedule(6), nothing, mask)[0])


@torch.no_grad()
def test_trained_network_makes_motion_of_human_size():
    motion = sampled(load_networks(asset_path("portrait")))
    degrees = torch.rad2deg(motion[:, POSE_SLICE][:, :3])
    assert 0.2 < degrees.std(dim=0).max() < 12
    assert degrees.abs().max() < 30
    assert motion[:, MOUTH_SLICE].abs().max() < 0.4
