"""The largest call of every network in a job: what to plan memory with, and to time networks alone."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from avatar_cli.families.synthetic.dit import Guidance
from avatar_cli.families.synthetic.encoders import SAMPLES
from avatar_cli.families.synthetic.sizes import (
    LATENT_CHANNELS,
    REFERENCE_FEATURES,
    REFERENCE_TOKENS,
    SyntheticSize,
)
from avatar_cli.runtime.meta_run import MetaRun, meta_run
from avatar_cli.runtime.module import META, Module

Call = Callable[[Any], Any]  # takes the network


def example_calls(size: SyntheticSize, device: torch.device) -> Mapping[str, Call]:
    """For each network a function that calls it as a job does, by the network's name."""
    geometry, networks = size.geometry, size.networks
    both_borders = 2 if geometry.interpolated_frames else 1
    seen = max(geometry.chunk_frames, geometry.interpolated_frames) + both_borders * geometry.border_frames
    text = _zeros(device, 1, networks.text_encoder.tokens, networks.text_encoder.transformer.hidden)
    reference = _zeros(device, 1, REFERENCE_TOKENS, REFERENCE_FEATURES)
    audio = _zeros(device, 1, seen, networks.audio_encoder.tokens, networks.audio_encoder.transformer.hidden)

    def a2v(network: Any) -> Any:
        x = _zeros(device, 1, seen, LATENT_CHANNELS, *geometry.low)
        return network(x, *_times(seen, device), Guidance(text, reference, audio))

    def sr(network: Any) -> Any:
        x = _zeros(device, 1, geometry.chunk_frames, 2 * LATENT_CHANNELS, *geometry.high)
        return network(x, *_times(geometry.chunk_frames, device), Guidance(text, reference))

    def vae(network: Any) -> Any:
        latent = _zeros(device, 1, LATENT_CHANNELS, 1, *geometry.high)
        like = torch.empty(0, dtype=size.dtype, device=device)
        return network(latent, network.empty_memory(*geometry.high, like=like))

    return {
        "text_encoder": lambda network: network(
            torch.zeros(1, networks.text_encoder.tokens, dtype=torch.int64, device=device)
        ),
        "audio_encoder": lambda network: network(_zeros(device, 1, seen + 2, SAMPLES)),
        "a2v_dit": a2v,
        "sr_dit": sr,
        "vae_decoder": vae,
    }


def meta_runs(size: SyntheticSize, modules: tuple[Module[Any], ...]) -> dict[str, MetaRun]:
    """Memory and work of the largest call of each network, by name."""
    calls = example_calls(size, META)
    return {module.name: meta_run(_bound(calls[module.name], module)) for module in modules}


def state_bytes(size: SyntheticSize, vae: Module[Any]) -> int:
    """What is kept from chunk to chunk: three borders, the sound of two windows, the decoder's memory."""
    geometry = size.geometry
    like = torch.empty(0, dtype=size.dtype, device=META)
    memory = vae.on_meta().empty_memory(*geometry.high, like=like)
    borders = 3 * geometry.border_frames * LATENT_CHANNELS * math.prod(geometry.low)
    window = geometry.chunk_frames + geometry.interpolated_frames + 2 * geometry.border_frames + 2
    kept = borders + 2 * window * SAMPLES
    return sum(layer.nbytes for layer in memory) + kept * torch.float32.itemsize


def _bound(call: Call, module: Module[Any]) -> Callable[[], Any]:
    network = module.on_meta()
    return lambda: call(network)


def _times(count: int, device: torch.device) -> tuple[Tensor, Tensor]:
    return torch.zeros(1, count, device=device), torch.arange(count, device=device)


def _zeros(device: torch.device, *shape: int) -> Tensor:
    return torch.zeros(shape, device=device)
