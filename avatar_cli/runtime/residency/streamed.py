"""One rank: weights rest in pinned host memory, and each block is copied under the compute of the one before.

Blocks take turns in a few slots of device memory. A copy into a slot begins when the block that was there
has been computed, and a block is computed when its copy is done: both are events that the device waits for,
never the host. Holding is streaming with a slot for every block.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from torch import Tensor, nn

from avatar_cli.protocol.events import EventSink
from avatar_cli.runtime.memory_budget import COPIED, Keep
from avatar_cli.runtime.module import Module
from avatar_cli.runtime.recorder import interval
from avatar_cli.runtime.residency.block_trace import trace_forwards
from avatar_cli.runtime.residency.copy_engine import CopyEngine, Event
from avatar_cli.runtime.residency.packed import Packed, pack
from avatar_cli.runtime.residency.protocol import Residency
from avatar_cli.runtime.weights import load_into

Network = TypeVar("Network", bound=nn.Module)


@dataclass
class _Slot:
    """Device memory that one block at a time is in."""

    memory: Tensor
    free: Event  # comes when nothing computes with the memory any more
    block: int | None = None
    copied: Event | None = None  # comes when the block is there; None once the compute stream waits for it
    views: dict[int, list[nn.Parameter]] = field(default_factory=dict)  # by block, made once a visit


class StreamedResidency(Generic[Network]):
    """The network computes on the engine's device; all calls come from one thread.

    Networks that share an engine bring each other in: see `prefetch`.
    """

    def __init__(
        self,
        module: Module[Network],
        engine: CopyEngine,
        emit: EventSink,
        keep: Keep,
        rank: int = 0,
        trace: bool = False,
    ) -> None:
        """Reads the weights into pinned memory; `trace` tells every block's forward.

        Raises EnvironmentProblem.
        """
        self.name = module.name
        self._engine = engine
        self._emit = emit
        self._rank = rank
        with interval(emit, f"load {module.name}", rank=rank):
            self._network = module.on_meta()
            blocks = list(module.blocks(self._network))
            self._root, self._blocks = pack(module.name, self._network, blocks)
            parts = [self._root, *self._blocks]
            self._host = {part.name: engine.host(part.nbytes) for part in parts}
            tensors: dict[str, Tensor] = {}
            for part in parts:
                tensors |= part.tensors(self._host[part.name])
            load_into(self._network, module.checkpoint, tensors, engine.device)
        self._slot_count = len(blocks) if keep is Keep.HOLD else min(COPIED.slots, len(blocks))
        self._slot_bytes = max((part.nbytes for part in self._blocks), default=0)
        self._root_memory: _Slot | None = None
        self._slots: list[_Slot] = []
        self._following: list[Residency] = []
        for index, block in enumerate(blocks):
            block.register_forward_pre_hook(lambda module, args, index=index: self._before(index))
            block.register_forward_hook(
                lambda module, args, output, index=index: self._after(index), always_call=True
            )
        if trace:
            trace_forwards(module.name, blocks, emit, rank)

    @property
    def network(self) -> Network:
        """The network; parameters are on the device only while they are used."""
        return self._network

    def bring_in(self) -> None:
        """Queue the copies of root and first block, unless they are on their way or there."""
        if self._root_memory is None:
            self._root_memory = self._new_slot(self._root.nbytes)
            self._copy(self._root, self._root_memory)
            if self._blocks:
                self._slot_with(0, wanted=(0,))

    def enter(self) -> None:
        """Queue what is not on its way; the compute stream, not the host, waits for the root."""
        with interval(self._emit, f"enter {self.name}", rank=self._rank):
            self.bring_in()
            assert self._root_memory is not None
            self._await(self._root_memory)
            self._root.install(self._root.views(self._root_memory.memory))

    def prefetch(self, following: Residency) -> None:
        """From now until `leave`, `following` is brought in where this network's last block begins."""
        if following not in self._following:
            self._following.append(following)
        if not self._blocks:
            following.bring_in()

    def leave(self) -> None:
        """Give the device memory back, once the compute stream is behind every copy into it."""
        with interval(self._emit, f"leave {self.name}", rank=self._rank):
            self._following.clear()
            self._root.remove()
            for slot in [*self._slots, *([self._root_memory] if self._root_memory else [])]:
                self._await(slot)
            self._slots.clear()
            self._root_memory = None

    def close(self) -> None:
        """Drop the network, its pinned memory and what it has on the device."""
        self.leave()
        self._engine.flush()
        for host in self._host.values():
            self._engine.free_host(host)
        del self._network, self._host, self._root, self._blocks

    def _before(self, index: int) -> None:
        """Before a block's forward: wait for its weights, then queue those of the blocks after it."""
        upcoming = self._upcoming(index)
        slot = self._slot_with(index, upcoming)
        self._await(slot)
        if index not in slot.views:
            slot.views[index] = self._blocks[index].views(slot.memory)
        self._blocks[index].install(slot.views[index])
        for block in upcoming[1:]:
            self._slot_with(block, upcoming)
        if index == len(self._blocks) - 1:
            for following in self._following:
                following.bring_in()

    def _after(self, index: int) -> None:
        """After a block's forward: its slot is free for another one when the computation is done."""
        self._blocks[index].remove()
        (slot,) = (slot for slot in self._slots if slot.block == index)
        slot.free = self._engine.record_compute()

    def _upcoming(self, index: int) -> Sequence[int]:
        """The blocks that shall be there while block `index` runs, itself first.

        After the last block comes the first one, for the next call, unless another network follows.
        """
        stop = index + self._slot_count
        if self._following:
            stop = min(stop, len(self._blocks))
        return [block % len(self._blocks) for block in range(index, stop)]

    def _slot_with(self, block: int, wanted: Sequence[int]) -> _Slot:
        """The slot that holds a block, its copy queued if need be in place of one that is not wanted."""
        for slot in self._slots:
            if slot.block == block:
                return slot
        if len(self._slots) < self._slot_count:
            alone = self._slot_count == len(self._blocks)  # nothing else will come into its slot
            slot = self._new_slot(self._blocks[block].nbytes if alone else self._slot_bytes)
            self._slots.append(slot)
        else:
            slot = next(slot for slot in self._slots if slot.block not in wanted)
        slot.block = block
        self._copy(self._blocks[block], slot)
        return slot

    def _new_slot(self, nbytes: int) -> _Slot:
        # What had this memory before may still be computing.
        return _Slot(self._engine.allocate(nbytes), self._engine.record_compute())

    def _copy(self, part: Packed, slot: _Slot) -> None:
        self._engine.copies_wait(slot.free)
        self._engine.copy(self._host[part.name], slot.memory[: part.nbytes], part.name)
        slot.copied = self._engine.record_copies()

    def _await(self, slot: _Slot) -> None:
        if slot.copied is not None:
            self._engine.compute_waits(slot.copied)
            slot.copied = None
