"""Parameters packed one behind the other: a block comes to the device in one copy, whatever dtypes it has."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor, nn

ALIGNMENT = 256  # bytes; what the allocators of CPU and GPU promise, and vector units need


@dataclass(frozen=True)
class Entry:
    """One parameter: the submodule that has it, its names there and in the network, and its place."""

    owner: nn.Module
    name: str
    full_name: str
    placeholder: nn.Parameter  # on the meta device: stands in its place while it is not on the device
    offset: int  # bytes


@dataclass(frozen=True)
class Packed:
    """The parameters of a block, or of what is outside of blocks, as one stretch of `nbytes` bytes."""

    name: str
    entries: tuple[Entry, ...]
    nbytes: int

    def views(self, flat: Tensor) -> list[nn.Parameter]:
        """The parameters, in the order of entries, as views into `flat`: uint8, `nbytes` bytes or more."""
        return [
            nn.Parameter(_view(flat, entry.offset, entry.placeholder), requires_grad=False)
            for entry in self.entries
        ]

    def tensors(self, flat: Tensor) -> dict[str, Tensor]:
        """Plain views into `flat` by the parameters' names in the network, to load a checkpoint into."""
        return {entry.full_name: _view(flat, entry.offset, entry.placeholder) for entry in self.entries}

    def install(self, parameters: Sequence[nn.Parameter]) -> None:
        """Put parameters, in the order of entries, where the network looks for them."""
        for entry, parameter in zip(self.entries, parameters, strict=True):
            entry.owner._parameters[entry.name] = parameter

    def remove(self) -> None:
        """Put the placeholders back: computing with them fails, and says that they are on the meta device."""
        for entry in self.entries:
            entry.owner._parameters[entry.name] = entry.placeholder


def pack(name: str, network: nn.Module, blocks: Sequence[nn.Module]) -> tuple[Packed, list[Packed]]:
    """Root (all that is outside of `blocks`) and blocks of a network whose parameters are on meta."""
    block_of = {module: index for index, block in enumerate(blocks) for module in block.modules()}
    entries: list[list[Entry]] = [[] for _ in range(len(blocks) + 1)]
    ends = [0] * len(entries)
    for prefix, owner in network.named_modules():
        part = block_of.get(owner, -1) + 1
        for key, placeholder in owner.named_parameters(recurse=False):
            full_name = f"{prefix}.{key}" if prefix else key
            entries[part].append(Entry(owner, key, full_name, placeholder, ends[part]))
            ends[part] += -(-placeholder.nbytes // ALIGNMENT) * ALIGNMENT
    names = [f"{name}.root", *(f"{name}.{index}" for index in range(len(blocks)))]
    root, *rest = (Packed(*part) for part in zip(names, map(tuple, entries), ends, strict=True))
    return root, rest


def _view(flat: Tensor, offset: int, like: Tensor) -> Tensor:
    return flat[offset : offset + like.nbytes].view(like.dtype).view(like.shape)
