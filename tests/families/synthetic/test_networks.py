"""The synthetic networks compute what their kind must: positions, causality, what is listened to."""

import torch

from avatar_cli.families.synthetic.attention import rotary, rotate
from avatar_cli.families.synthetic.dit import Guidance, _from_patches, _to_patches
from avatar_cli.families.synthetic.modules import modules
from avatar_cli.families.synthetic.sizes import LATENT_CHANNELS, REFERENCE_FEATURES
from avatar_cli.runtime.weights import load_whole

CPU = torch.device("cpu")


def network(tiny, name):
    (module,) = (module for module in modules(tiny).all() if module.name == name)
    made = module.on_meta()
    load_whole(made, module.checkpoint, CPU)
    return made


def noise(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(3))


def dit_inputs(tiny, frames=3):
    networks = tiny.networks
    guidance = Guidance(
        text=noise(1, 5, networks.text_encoder.transformer.hidden),
        reference=noise(1, 64, REFERENCE_FEATURES),
        audio=noise(1, frames, 4, networks.audio_encoder.transformer.hidden),
    )
    return noise(1, frames, LATENT_CHANNELS, 2, 4), torch.rand(1, frames), torch.arange(frames), guidance


def test_patches_come_back_as_they_were():
    x = noise(1, 3, 16, 4, 6)
    tokens = _to_patches(x)
    assert tokens.shape == (1, 3 * 2 * 3, 16 * 4)
    assert torch.equal(_from_patches(tokens, (3, 4, 6)), x)


def test_only_differences_of_positions_matter():
    query, key = noise(1, 1, 4, 16), noise(1, 1, 4, 16)
    positions = torch.tensor([[0, 0, 1], [1, 2, 0], [2, 1, 1], [3, 0, 2]])

    def scores(positions):
        turns = rotary(positions, 16)
        return rotate(query, turns) @ rotate(key, turns).transpose(-1, -2)

    assert torch.allclose(scores(positions), scores(positions + 7), atol=1e-4)
    assert not torch.allclose(scores(positions), scores(2 * positions), atol=1e-2)


@torch.no_grad()
def test_everything_that_is_told_changes_the_velocity(tiny):
    dit = network(tiny, "a2v_dit")
    x, time, positions, guidance = dit_inputs(tiny)
    velocity = dit(x, time, positions, guidance)
    assert velocity.shape == x.shape
    assert 0.1 < velocity.std() < 10
    others = [
        dit(x + 1, time, positions, guidance),
        dit(x, time / 2, positions, guidance),
        dit(x, time, positions * 2, guidance),
        *(
            dit(
                x,
                time,
                positions,
                Guidance(
                    text=guidance.text + (part == "text"),
                    reference=guidance.reference + (part == "reference"),
                    audio=guidance.audio + (part == "audio"),
                ),
            )
            for part in ("text", "reference", "audio")
        ),
    ]
    for other in others:
        assert (other - velocity).abs().max() > 1e-3


@torch.no_grad()
def test_a_frame_hears_its_own_sound(tiny):
    listening = network(tiny, "a2v_dit")
    block = listening.blocks[0]
    assert block.listens
    assert not listening.blocks[1].listens
    x, time, positions, guidance = dit_inputs(tiny, frames=2)
    seen = []
    block.audio_attention.register_forward_hook(lambda module, args, output: seen.append(output))
    listening(x, time, positions, guidance)
    louder = guidance.audio.clone()
    louder[:, 1] += 5
    listening(x, time, positions, Guidance(guidance.text, guidance.reference, louder))
    before, after = (output.unflatten(1, (2, -1)) for output in seen)
    assert torch.equal(before[:, 0], after[:, 0])
    assert not torch.allclose(before[:, 1], after[:, 1], atol=1e-3)


@torch.no_grad()
def test_the_decoder_never_looks_ahead_and_always_back(tiny):
    decoder = network(tiny, "vae_decoder")
    latents = noise(1, LATENT_CHANNELS, 4, 2, 3)

    def decoded(latents):
        memory, pieces = decoder.empty_memory(2, 3, like=latents), []
        for latent in latents.split(1, dim=2):
            pixels, memory = decoder(latent, memory)
            assert pixels.shape == (1, 3, 4, 16, 24)
            pieces.append(pixels)
        return torch.cat(pieces, dim=2)

    whole = decoded(latents)
    changed = latents.clone()
    changed[:, :, 1] += 1
    difference = (decoded(changed) - whole).abs().amax(dim=(0, 1, 3, 4))
    assert difference[:4].max() == 0
    assert difference[4:12].min() > 1e-4
