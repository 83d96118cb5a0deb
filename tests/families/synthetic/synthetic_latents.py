"""The latents of a short job of the tiny model, however its networks are placed."""

from pathlib import Path

import torch
from torch import Tensor

from avatar_cli.families.synthetic.dit import Guidance
from avatar_cli.families.synthetic.family import load_networks
from avatar_cli.families.synthetic.size_file import read_size
from avatar_cli.families.synthetic.sizes import LATENT_CHANNELS, REFERENCE_FEATURES
from avatar_cli.runtime.mesh import SequenceGroup
from avatar_cli.runtime.residency import resident
from avatar_cli.runtime.residency.choice import Placement

TINY = Path(__file__).parents[3] / "configs" / "synthetic" / "tiny.yaml"
FRAMES = 6
STEPS = 3


@torch.no_grad()
def latents(placement: Placement, sharing: SequenceGroup) -> dict[str, Tensor]:
    """Of audio-to-video after some steps, and of super-resolution after its one."""
    size = read_size(TINY)
    networks = load_networks(size, placement, lambda event: None, sharing=sharing)
    generator = torch.Generator().manual_seed(0)

    def noise(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator)

    text = noise(1, 32, size.networks.text_encoder.transformer.hidden)
    reference = noise(1, 128, REFERENCE_FEATURES)
    audio = noise(1, FRAMES, 4, size.networks.audio_encoder.transformer.hidden)
    x = noise(1, FRAMES, LATENT_CHANNELS, *size.geometry.low)
    positions = torch.arange(FRAMES)
    with resident(networks.a2v) as (dit,):
        for step in range(STEPS):
            time = torch.full((1, FRAMES), step / STEPS)
            x = x + dit(x, time, positions, Guidance(text, reference, audio)) / STEPS
    high = noise(1, FRAMES, 2 * LATENT_CHANNELS, *size.geometry.high)
    with resident(networks.sr) as (dit,):
        refined = dit(high, torch.zeros(1, FRAMES), positions, Guidance(text, reference))
    return {"a2v": x, "sr": refined}
