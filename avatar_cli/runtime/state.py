"""Rolling state: all that survives a chunk, as tensors that can be saved and taken up in another process."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from avatar_cli.protocol.errors import InputError, RenderFailure

COUNTERS_KEY = "counters"


class Checkpointable(Protocol):
    """A stage's state: what of it changes from chunk to chunk, as tensors."""

    def to_tensors(self) -> dict[str, Tensor]:
        """The tensors, by name."""

    def load_tensors(self, tensors: dict[str, Tensor]) -> None:
        """Inverse of `to_tensors`, in place."""


@dataclass(frozen=True)
class RollingState:
    """Where a job stands: its seed, its place in the order of work and in the video, and the kept tensors.

    `stages` holds each stage's tensors by stage and name, border latents among those of audio-to-video;
    `reference` the reference conditioning, where it is to be saved too.
    """

    seed: int
    next_chunk: int  # chunks done, in order of work
    stages: dict[str, dict[str, Tensor]] = field(default_factory=dict)
    reference: dict[str, Tensor] = field(default_factory=dict)
    next_frame: int = 0  # first frame that is not emitted yet

    @property
    def nbytes(self) -> int:
        """Memory that the state keeps alive, in bytes: a view counts with all of the tensor it looks into."""
        storages = [tensor.untyped_storage() for _, tensor in self._named()]
        return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())

    def require_within(self, limit: int) -> None:
        """Raise RenderFailure where the state is larger than the bytes its family declares."""
        if self.nbytes > limit:
            raise RenderFailure(
                f"the state kept from chunk to chunk has grown to {self.nbytes} bytes, but this model "
                f"declares at most {limit}; the model is at fault, use another one"
            )

    def save(self, path: Path) -> None:
        """Write one safetensors file; a reader sees the old one or the new one, also after a crash."""
        partial = path.with_name(f".{path.name}.partial")
        tensors = {
            name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
            for name, tensor in self._named()
        }
        counters = {"seed": self.seed, "next_chunk": self.next_chunk, "next_frame": self.next_frame}
        save_file(tensors, partial, {COUNTERS_KEY: json.dumps(counters)})
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(partial, path)  # noqa: PTH105 - the atomic one, by name

    @classmethod
    def load(cls, path: Path) -> "RollingState":
        """Read what `save` wrote, equal bit for bit, on the CPU. Raises InputError for anything else."""
        reference: dict[str, Tensor] = {}
        stages: dict[str, dict[str, Tensor]] = {}
        try:
            with safe_open(path, framework="pt") as file:
                counters = json.loads(file.metadata()[COUNTERS_KEY])
                for key in file.keys():  # noqa: SIM118 - not a dict
                    group, _, name = key.partition("/")
                    if group == "stages":
                        stage, _, name = name.partition("/")
                        stages.setdefault(stage, {})[name] = file.get_tensor(key)
                    else:
                        reference[name] = file.get_tensor(key)
            return cls(stages=stages, reference=reference, **counters)
        except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"{path} is not the saved state of a render ({error}); delete it and start again"
            ) from error

    def _named(self) -> Iterator[tuple[str, Tensor]]:
        for name, tensor in self.reference.items():
            yield f"reference/{name}", tensor
        for stage, tensors in self.stages.items():
            for name, tensor in tensors.items():
                yield f"stages/{stage}/{name}", tensor
