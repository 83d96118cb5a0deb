"""The five networks as modules: what residencies make tensors of."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from avatar_cli.families.synthetic.dit import DiT
from avatar_cli.families.synthetic.encoders import AudioEncoder, TextEncoder
from avatar_cli.families.synthetic.random_weights import RandomWeights, shapes_of, write_sharded
from avatar_cli.families.synthetic.sizes import (
    AudioEncoderParams,
    DiTParams,
    SyntheticSize,
    TextEncoderParams,
    TransformerSize,
    VaeParams,
)
from avatar_cli.families.synthetic.vae import CausalDecoder
from avatar_cli.runtime.module import Module
from avatar_cli.runtime.weights import Checkpoint, WeightSource

# On every rank, and never moved: the decoder runs in a thread of its own on one rank, and the blocks of the
# audio encoder take less time to compute than to bring in.
WHOLE = ("audio_encoder", "vae_decoder")
_GIB = 1 << 30


@dataclass(frozen=True)
class Modules:
    """The networks in the order in which a job first runs them."""

    text_encoder: Module[TextEncoder]
    audio_encoder: Module[AudioEncoder]
    a2v: Module[DiT]
    sr: Module[DiT]
    vae: Module[CausalDecoder]

    def all(self) -> tuple[Module[Any], ...]:
        """Every one of them."""
        return (self.text_encoder, self.audio_encoder, self.a2v, self.sr, self.vae)


def modules(size: SyntheticSize, folder: Path | None = None) -> Modules:
    """The networks of a size; their weights are made in place, or read from what `write_modules` wrote."""
    sizes = size.networks

    def module(name: str, params: Any, build: Callable[[Mapping[str, Any]], Any]) -> Module[Any]:
        return _module(name, params, build, size.dtype, folder)

    return Modules(
        text_encoder=module("text_encoder", sizes.text_encoder, _text_encoder),
        audio_encoder=module("audio_encoder", sizes.audio_encoder, _audio_encoder),
        a2v=module("a2v_dit", sizes.a2v, _dit),
        sr=module("sr_dit", sizes.sr, _dit),
        vae=module("vae_decoder", sizes.vae, _vae),
    )


def write_modules(size: SyntheticSize, folder: Path, shard_bytes: int = _GIB) -> None:
    """Write one sharded checkpoint for each network, `folder`/NAME/model.safetensors.index.json."""
    for module in modules(size).all():
        assert isinstance(module.checkpoint, RandomWeights)
        write_sharded(module.checkpoint, folder / module.name, shard_bytes)


def _module(
    name: str,
    params: Any,
    build: Callable[[Mapping[str, Any]], nn.Module],
    dtype: torch.dtype,
    folder: Path | None,
) -> Module[Any]:
    configuration = dataclasses.asdict(params)
    without_shapes = RandomWeights(name, configuration, {}, dtype)

    def made(source: WeightSource) -> Module[Any]:
        return Module(name, source, build, _blocks, dtype)

    if folder is not None:
        return made(Checkpoint(folder / name / "model.safetensors.index.json"))
    shapes = shapes_of(made(without_shapes))
    return made(dataclasses.replace(without_shapes, shapes=shapes))


def _blocks(network: Any) -> list[nn.Module]:
    return list(network.blocks)


def _dit(config: Mapping[str, Any]) -> DiT:
    return DiT(DiTParams(**_sized(config)))


def _text_encoder(config: Mapping[str, Any]) -> TextEncoder:
    return TextEncoder(TextEncoderParams(**_sized(config)))


def _audio_encoder(config: Mapping[str, Any]) -> AudioEncoder:
    return AudioEncoder(AudioEncoderParams(**_sized(config)))


def _vae(config: Mapping[str, Any]) -> CausalDecoder:
    first, second, third, fourth = config["channels"]
    return CausalDecoder(VaeParams((first, second, third, fourth), config["residual_blocks"]))


def _sized(config: Mapping[str, Any]) -> dict[str, Any]:
    return {**config, "transformer": TransformerSize(**config["transformer"])}
