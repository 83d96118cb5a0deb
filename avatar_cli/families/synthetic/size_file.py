"""Sizes from a YAML file, and the same with another number of parameters."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import yaml

from avatar_cli.families.synthetic.modules import modules
from avatar_cli.families.synthetic.sizes import (
    SIDE_STEP,
    AudioEncoderParams,
    DiTParams,
    Geometry,
    NetworkSizes,
    SyntheticSize,
    TextEncoderParams,
    TransformerSize,
    VaeParams,
)
from avatar_cli.protocol.errors import UsageError

_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
_MLP_STEP = 16
_SUFFIXES = {"K": 10**3, "M": 10**6, "B": 10**9}


@dataclass(frozen=True)
class Changes:
    """What may be asked of the base transformer; None leaves it as the file says."""

    params: int | None = None
    blocks: int | None = None
    hidden: int | None = None
    heads: int | None = None


def read_size(path: Path) -> SyntheticSize:
    """The size in a file. Raises UsageError for one that cannot be read or cannot be."""
    try:
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
        size = _size(path.stem, tree)
    except OSError as error:
        raise UsageError(
            f"The size file {path} cannot be read ({error.strerror}): check the name."
        ) from error
    except (yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise UsageError(
            f"{path} is no size of a synthetic model ({reason}): write it as configs/synthetic/tiny.yaml is."
        ) from error
    _check(size)
    return size


def changed(size: SyntheticSize, changes: Changes) -> SyntheticSize:
    """The same with another base transformer, its MLP as wide as the number of parameters asks for.

    Raises UsageError where there is none: too few parameters for so many blocks, or heads that do not divide.
    """
    base = size.networks.a2v.transformer
    hidden = changes.hidden or base.hidden
    transformer = TransformerSize(
        hidden=hidden,
        blocks=changes.blocks or base.blocks,
        heads=changes.heads or max(1, hidden * base.heads // base.hidden),
        mlp=base.mlp * hidden // base.hidden,
    )
    resized = _with_base(size, transformer)
    _check(resized)
    if changes.params is not None:
        resized = _with_params(resized, changes.params)
    return resized


def parameters(size: SyntheticSize) -> dict[str, int]:
    """Number of parameters of every network, by name."""
    return {
        module.name: sum(parameter.numel() for parameter in module.on_meta().parameters())
        for module in modules(size).all()
    }


def read_count(text: str) -> int:
    """A number such as 14B, 1.3B or 350M. Raises UsageError."""
    factor = _SUFFIXES.get(text[-1:].upper(), 1)
    digits = text[:-1] if factor > 1 else text
    try:
        count = round(float(digits) * factor)
    except (ValueError, OverflowError):
        count = 0
    if count < 1:
        raise UsageError(f"--params {text} is not a number of parameters: write it as 14B, 1.3B or 350M.")
    return count


def _with_params(size: SyntheticSize, params: int) -> SyntheticSize:
    base = size.networks.a2v.transformer
    low, high = (
        parameters(_with_base(size, dataclasses.replace(base, mlp=mlp)))["a2v_dit"]
        for mlp in (_MLP_STEP, 2 * _MLP_STEP)
    )
    steps = round((params - low) / (high - low)) + 1  # the number of parameters is linear in the width
    if steps < 1:
        raise UsageError(
            f"{base.blocks} blocks of width {base.hidden} have {low:,} parameters or more, not {params:,}: "
            "ask for fewer --blocks, a smaller --hidden or more --params."
        )
    return _with_base(size, dataclasses.replace(base, mlp=steps * _MLP_STEP))


def _with_base(size: SyntheticSize, transformer: TransformerSize) -> SyntheticSize:
    a2v = dataclasses.replace(size.networks.a2v, transformer=transformer)
    return dataclasses.replace(size, networks=dataclasses.replace(size.networks, a2v=a2v))


def _size(name: str, tree: Any) -> SyntheticSize:
    text = TextEncoderParams(
        _transformer(tree["text_encoder"]), tree["text_encoder"]["vocabulary"], tree["text_encoder"]["tokens"]
    )
    audio = AudioEncoderParams(_transformer(tree["audio_encoder"]), tree["audio_encoder"]["tokens"])
    text_width = text.transformer.hidden
    first, second, third, fourth = tree["vae_decoder"]["channels"]
    return SyntheticSize(
        name=name,
        dtype=_DTYPES[tree["dtype"]],
        geometry=Geometry(**tree["video"]),
        networks=NetworkSizes(
            a2v=DiTParams(_transformer(tree["a2v_dit"]), 1, text_width, audio.transformer.hidden),
            sr=DiTParams(_transformer(tree["sr_dit"]), 2, text_width, 0),
            text_encoder=text,
            audio_encoder=audio,
            vae=VaeParams((first, second, third, fourth), tree["vae_decoder"]["residual_blocks"]),
        ),
    )


def _transformer(tree: Any) -> TransformerSize:
    return TransformerSize(**{key: tree[key] for key in ("hidden", "blocks", "heads", "mlp")})


def _check(size: SyntheticSize) -> None:
    geometry, networks = size.geometry, size.networks
    for side in (geometry.width, geometry.height):
        if side < SIDE_STEP or side % SIDE_STEP:
            raise UsageError(f"The sides of a synthetic video are multiples of {SIDE_STEP}, not {side}.")
    transformers = {
        "a2v_dit": networks.a2v.transformer,
        "sr_dit": networks.sr.transformer,
        "text_encoder": networks.text_encoder.transformer,
        "audio_encoder": networks.audio_encoder.transformer,
    }
    for name, transformer in transformers.items():
        hidden, heads = transformer.hidden, transformer.heads
        if min(dataclasses.astuple(transformer)) < 1 or hidden % (2 * heads):
            raise UsageError(
                f"{name}: a width of {hidden} cannot be shared out over {heads} heads of an even width each: "
                "choose other --hidden or --heads."
            )
