"""Checkpoints: safetensors files with the network's configuration, loaded whole or one shard a rank.

A checkpoint is one `.safetensors` file, or a `.safetensors.index.json` that says which of several files holds
which tensor. The configuration is JSON in the file's metadata (key `config`), or a `config.json` beside an
index, as published models have it.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from avatar_cli.protocol.errors import EnvironmentProblem

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor

CONFIG_KEY = "config"
INDEX_SUFFIX = ".safetensors.index.json"
REINSTALL = "install the weights again"


def save_checkpoint(path: Path, tensors: Mapping[str, Tensor], config: Mapping[str, Any]) -> None:
    """Write one `.safetensors` file with its configuration, in place of an older one only when whole."""
    partial = path.with_name(f".{path.name}.partial")
    metadata = {CONFIG_KEY: json.dumps(config, sort_keys=True)}
    save_file({name: tensor.detach().contiguous() for name, tensor in tensors.items()}, partial, metadata)
    os.replace(partial, path)  # noqa: PTH105 - the atomic one, by name


class StoredTensor(Protocol):
    """A tensor that is read when it is sliced, and only the slice."""

    def get_shape(self) -> list[int]:
        """Its sizes."""

    def __getitem__(self, index: Any) -> Tensor:
        """A slice, or with `...` all of it."""


class WeightSource(Protocol):
    """Where the tensors of a network come from; `path` is for sentences about it."""

    @property
    def path(self) -> Path:
        """File, or what stands for one."""

    def config(self) -> dict[str, Any]:
        """Configuration of the network. Raises EnvironmentProblem where there is none."""

    def opened(self) -> AbstractContextManager[Mapping[str, StoredTensor]]:
        """Its tensors by name. Raises EnvironmentProblem, also while they are read."""


@dataclass(frozen=True)
class Checkpoint:
    """A `.safetensors` file, or the index of several."""

    path: Path

    def config(self) -> dict[str, Any]:
        """Configuration of the network. Raises EnvironmentProblem where there is none."""
        if self._is_index:
            text = _read_text(self.path.with_name("config.json"))
        else:
            with _opened(self.path) as file:
                text = (file.metadata() or {}).get(CONFIG_KEY, "")
        try:
            return json.loads(text)
        except ValueError as error:
            raise EnvironmentProblem(
                f"the configuration of {self.path} is missing or not JSON ({error}); {REINSTALL}"
            ) from error

    def files(self) -> dict[str, Path]:
        """File of every tensor. Raises EnvironmentProblem for a missing or broken index or file."""
        if not self._is_index:
            with _opened(self.path) as file:
                return dict.fromkeys(file.keys(), self.path)
        try:
            weight_map = json.loads(_read_text(self.path))["weight_map"]
        except (ValueError, KeyError, TypeError) as error:
            raise EnvironmentProblem(
                f"{self.path} is not an index of safetensors files; {REINSTALL}"
            ) from error
        return {name: self.path.with_name(file) for name, file in weight_map.items()}

    @contextmanager
    def opened(self) -> Iterator[Mapping[str, StoredTensor]]:
        """Its tensors by name; see `WeightSource`."""
        files = self.files()
        with ExitStack() as stack:
            handles = {path: stack.enter_context(_opened(path)) for path in sorted(set(files.values()))}
            yield {name: _InFile(name, path, handles[path]) for name, path in files.items()}

    @property
    def _is_index(self) -> bool:
        return self.path.name.endswith(INDEX_SUFFIX)


@dataclass(frozen=True)
class _InFile:
    """A tensor of an open safetensors file."""

    name: str
    path: Path
    file: Any

    def get_shape(self) -> list[int]:
        """Its sizes."""
        return self.file.get_slice(self.name).get_shape()

    def __getitem__(self, index: Any) -> Tensor:
        """Reads a slice. Raises EnvironmentProblem."""
        try:
            return self.file.get_slice(self.name)[index]
        except SafetensorError as error:
            raise EnvironmentProblem(
                f"tensor {self.name} in {self.path} cannot be read ({error}); {REINSTALL}"
            ) from error


def load_whole(network: nn.Module, checkpoint: WeightSource, device: torch.device) -> None:
    """Give a network whose parameters stand on the meta device its tensors, in the dtypes they have there.

    Raises EnvironmentProblem where a file is missing or broken, or does not fit the network.
    """
    _load(network, checkpoint, lambda name, stored, target: _read_whole(stored, target, device))
    _place_buffers(network, device)


def load_into(
    network: nn.Module, checkpoint: WeightSource, host: Mapping[str, Tensor], device: torch.device
) -> None:
    """Like `load_whole`, but write parameters into the tensors of `host`, by name.

    The network keeps its parameters on the meta device; its buffers come to `device`.
    """

    def read(name: str, stored: StoredTensor, target: Tensor) -> Tensor:
        if name not in host:
            return _read_whole(stored, target, device)
        host[name].copy_(stored[...])
        return target

    _load(network, checkpoint, read)
    _place_buffers(network, device)


def load_shards(
    network: nn.Module, checkpoint: WeightSource, resting: torch.device, compute: torch.device
) -> None:
    """Like `load_whole` for a network whose parameters are DTensors; reads only this rank's slices.

    Shards lie on the device `resting`, buffers on `compute`.
    """
    from torch.distributed.tensor import DTensor

    def read(name: str, stored: StoredTensor, target: Tensor) -> Tensor:
        if isinstance(target, DTensor):
            return _read_shard(stored, target, resting)
        return _read_whole(stored, target, compute)

    _load(network, checkpoint, read)
    _place_buffers(network, compute)


def _load(
    network: nn.Module, checkpoint: WeightSource, read: Callable[[str, StoredTensor, Tensor], Tensor]
) -> None:
    targets = network.state_dict()
    loaded: dict[str, Tensor] = {}
    with checkpoint.opened() as tensors:
        _compare_names(set(targets), set(tensors), checkpoint.path)
        for name, target in targets.items():
            stored = tensors[name]
            _compare_shapes(stored.get_shape(), list(target.shape), name, checkpoint.path)
            loaded[name] = read(name, stored, target)
    network.load_state_dict(loaded, strict=True, assign=True)
    network.requires_grad_(False)


def _read_whole(stored: StoredTensor, target: Tensor, device: torch.device) -> Tensor:
    # A copy in fresh, aligned memory: what the file maps may be aligned to eight bytes only, and vector units
    # sum differently from there.
    return stored[...].to(device=device, dtype=target.dtype, copy=True)


def _read_shard(stored: StoredTensor, target: "DTensor", device: torch.device) -> Tensor:
    from torch.distributed.tensor import DTensor
    from torch.distributed.tensor._utils import compute_local_shape_and_global_offset

    mesh, placements = target.device_mesh, target.placements
    shape, offset = compute_local_shape_and_global_offset(target.shape, mesh, placements)
    if 0 in shape:  # fewer rows than ranks: this rank has none
        local = torch.empty(shape, dtype=target.dtype, device=device)
    else:
        index = tuple(slice(start, start + size) for start, size in zip(offset, shape, strict=True))
        local = stored[index].to(device=device, dtype=target.dtype, copy=True)
    shard = DTensor.from_local(
        local, mesh, placements, run_check=False, shape=target.shape, stride=target.stride()
    )
    return shard.to(device)  # from_local has brought it to the device of the mesh


def _place_buffers(network: nn.Module, device: torch.device) -> None:
    """Bring to `device` also the buffers that no checkpoint holds: their constructors computed them."""
    for prefix, module in network.named_modules():
        for name, buffer in module.named_buffers(recurse=False):
            if buffer.is_meta:
                raise RuntimeError(
                    f"the constructor left buffer {name} of {prefix or 'the network'} without values"
                )
            setattr(module, name, buffer.to(device))


def _compare_names(expected: set[str], stored: set[str], path: Path) -> None:
    for names, problem in ((expected - stored, "lacks"), (stored - expected, "has an unknown")):
        if names:
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            raise EnvironmentProblem(f"{path} {problem} tensor {min(names)}{more}; {REINSTALL}")


def _compare_shapes(stored: list[int], needed: list[int], name: str, path: Path) -> None:
    if stored != needed:
        raise EnvironmentProblem(
            f"tensor {name} in {path} has the shape {stored}, but the network needs {needed}; {REINSTALL}"
        )


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    if not path.is_file():
        raise EnvironmentProblem(f"the weights {path} do not exist; {REINSTALL}")
    try:
        file = safe_open(path, framework="pt")
    except (SafetensorError, OSError) as error:
        raise EnvironmentProblem(
            f"{path} is not a readable safetensors file ({error}); {REINSTALL}"
        ) from error
    with file:
        yield file


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EnvironmentProblem(f"{path} cannot be read ({error}); {REINSTALL}") from error
