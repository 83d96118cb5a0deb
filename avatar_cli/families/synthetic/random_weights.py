"""Random weights of any size: made where they are asked for, slice by slice, or written as a checkpoint.

Every tensor repeats one short stretch of noise from a place that its name decides, scaled so that activations
neither vanish nor blow up. Making a slice costs no more than copying it, ranks make only their own, and the
numbers are those that the written files hold.
"""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from avatar_cli.runtime.module import Module
from avatar_cli.runtime.weights import INDEX_SUFFIX, StoredTensor

_PERIOD = 1_048_573  # a prime, so that no two rows of a matrix are equal
_VECTOR_SPREAD = 0.1


@dataclass(frozen=True)
class RandomTensor:
    """One tensor that exists only where it is sliced."""

    name: str
    shape: tuple[int, ...]
    dtype: torch.dtype

    def get_shape(self) -> list[int]:
        """Its sizes."""
        return list(self.shape)

    def __getitem__(self, index: Any) -> Tensor:
        """Slices of whole rows are made alone; any other index makes the tensor first."""
        rows = index[0] if isinstance(index, tuple) else index
        if not self.shape or not isinstance(rows, slice) or rows.step not in (None, 1):
            return self._rows(0, self.shape[0] if self.shape else 1)[index]
        start, stop, _ = rows.indices(self.shape[0])
        rest = index[1:] if isinstance(index, tuple) else ()
        return self._rows(start, stop)[(slice(None), *rest)]

    def _rows(self, start: int, stop: int) -> Tensor:
        row = math.prod(self.shape[1:])
        values = _noise(start * row + _place(self.name), (stop - start) * row, self.dtype, self._spread())
        made = values.view(stop - start, *self.shape[1:]) if self.shape else values.view(())
        return made.add_(1) if self._is_gain() else made

    def _is_gain(self) -> bool:
        return len(self.shape) == 1 and self.name.endswith("weight")

    def _spread(self) -> float:
        """Largest value: that of a uniform distribution that keeps the variance of a layer's inputs."""
        if len(self.shape) < 2:
            return _VECTOR_SPREAD
        return math.sqrt(3 / math.prod(self.shape[1:]))


@dataclass(frozen=True)
class RandomWeights:
    """A source of weights without files; `shapes` holds the shape of every tensor of the network."""

    name: str
    configuration: Mapping[str, Any]
    shapes: Mapping[str, tuple[int, ...]]
    dtype: torch.dtype

    @property
    def path(self) -> Path:
        """What stands for a file in sentences."""
        return Path(f"random-weights-of-{self.name}")

    def config(self) -> dict[str, Any]:
        """Configuration of the network."""
        return dict(self.configuration)

    @contextmanager
    def opened(self) -> Iterator[Mapping[str, StoredTensor]]:
        """All tensors by name."""
        yield {
            name: RandomTensor(f"{self.name}.{name}", shape, self.dtype)
            for name, shape in self.shapes.items()
        }


def write_sharded(weights: RandomWeights, folder: Path, shard_bytes: int) -> Path:
    """Write a checkpoint of several safetensors files of about `shard_bytes` each; returns its index.

    One shard is in memory at a time.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shards: list[list[str]] = [[]]
    room = shard_bytes
    for name, shape in weights.shapes.items():
        nbytes = math.prod(shape) * weights.dtype.itemsize
        if nbytes > room and shards[-1]:
            shards.append([])
            room = shard_bytes
        shards[-1].append(name)
        room -= nbytes
    files = [f"model-{number:05}-of-{len(shards):05}.safetensors" for number in range(1, len(shards) + 1)]
    with weights.opened() as tensors:
        for file, names in zip(files, shards, strict=True):
            save_file({name: tensors[name][...] for name in names}, folder / file)
    weight_map = {name: file for file, names in zip(files, shards, strict=True) for name in names}
    (folder / "config.json").write_text(json.dumps(weights.config(), indent=2))
    index = folder / f"model{INDEX_SUFFIX}"
    index.write_text(json.dumps({"weight_map": weight_map}, indent=2))
    return index


def shapes_of(module: Module[Any]) -> dict[str, tuple[int, ...]]:
    """The shape of every tensor of a network, without memory for any."""
    return {name: tuple(tensor.shape) for name, tensor in module.on_meta().state_dict().items()}


@cache
def _stretch() -> Tensor:
    """Uniform noise in -1..1, the same in every process."""
    return torch.rand(_PERIOD, generator=torch.Generator().manual_seed(0)) * 2 - 1


def _place(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big")


def _noise(first: int, count: int, dtype: torch.dtype, spread: float) -> Tensor:
    """`count` values from place `first` on of the endless repetition."""
    turned = (_stretch() * spread).to(dtype).roll(-(first % _PERIOD))
    return turned.repeat(-(-count // _PERIOD))[:count]
