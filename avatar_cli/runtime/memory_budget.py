"""Which networks stay on the device, which come and go, and which pass through it block by block.

Pure arithmetic over bytes, so that a plan can be made for a machine that is not there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from avatar_cli.protocol.errors import EnvironmentProblem

GIB = 1 << 30
HEADROOM = 0.06  # of the device: the context, the libraries' workspaces, and what the allocator cannot reuse


class Keep(Enum):
    """How long the full parameters of a network's blocks are on the device."""

    RESIDENT = "resident"  # always: entering and leaving cost nothing
    HOLD = "hold"  # from their first forward until the network is left
    STREAM = "stream"  # for their own forward: a few blocks are there at a time


@dataclass(frozen=True)
class StageMemory:
    """Bytes that one network needs on the device of each rank, and how often it is called in a row."""

    name: str
    root: int  # parameters outside of the blocks: they stay from enter to leave
    blocks: tuple[int, ...]  # parameters of each block, in the order of a forward
    working: int  # activations and caches of its largest call
    calls: int  # calls between enter and leave

    @property
    def weights(self) -> int:
        """All parameters."""
        return self.root + sum(self.blocks)

    @property
    def largest_block(self) -> int:
        """Size of a slot: all slots of a network can take any of its blocks."""
        return max(self.blocks, default=0)


@dataclass(frozen=True)
class Transport:
    """How blocks come in: `slots` full blocks are there at a time, `buffers` more are on their way."""

    slots: int = 2
    buffers: int = 0


COPIED = Transport(slots=2, buffers=0)  # straight into their slots
GATHERED = Transport(slots=2, buffers=2)  # an all-gather fills one buffer while the last one is copied out


def auto_budget(free: int, total: int) -> int:
    """Bytes that may be planned with on a device with `free` of `total` bytes left."""
    return max(free - int(HEADROOM * total), 0)


def plan_memory(stages: Sequence[StageMemory], budget: int, transport: Transport = COPIED) -> dict[str, Keep]:
    """What to keep of each network, by name, within `budget` bytes. Networks follow each other in a ring.

    All stay resident where all fit. Else small networks stay as long as every other one can still be held,
    and of the others those are held that fit and are called more than once in a row: for a single call,
    holding moves as much memory as streaming. Raises EnvironmentProblem where one cannot even be streamed.
    """
    plan = {stage.name: Keep.STREAM for stage in stages}
    everything = {stage.name: Keep.RESIDENT for stage in stages}
    if _peak(stages, everything, transport) <= budget:
        return everything
    _require_room(stages, plan, budget, transport)
    for stage in sorted(stages, key=lambda stage: stage.weights):
        others_held = {name: Keep.HOLD if keep is Keep.STREAM else keep for name, keep in plan.items()}
        if _peak(stages, {**others_held, stage.name: Keep.RESIDENT}, transport) > budget:
            break
        plan[stage.name] = Keep.RESIDENT
    for stage in stages:
        held = {**plan, stage.name: Keep.HOLD}
        if plan[stage.name] is Keep.STREAM and stage.calls > 1 and _peak(stages, held, transport) <= budget:
            plan = held
    return plan


def peak_memory(
    stages: Sequence[StageMemory], plan: Mapping[str, Keep], transport: Transport = COPIED
) -> dict[str, int]:
    """Bytes on the device while each network runs, by name.

    That is what is resident, what the plan keeps of the network itself, its activations, and root and first
    block of the network that follows.
    """
    resident = sum(stage.weights for stage in stages if plan[stage.name] is Keep.RESIDENT)
    return {
        stage.name: resident
        + _own(stage, plan[stage.name], transport)
        + stage.working
        + _lead(stages[(index + 1) % len(stages)], stage, plan)
        for index, stage in enumerate(stages)
    }


def _peak(stages: Sequence[StageMemory], plan: Mapping[str, Keep], transport: Transport) -> int:
    return max(peak_memory(stages, plan, transport).values(), default=0)


def _own(stage: StageMemory, keep: Keep, transport: Transport) -> int:
    if keep is Keep.RESIDENT:
        return 0
    buffers = transport.buffers * stage.largest_block
    if keep is Keep.HOLD:
        return stage.weights + buffers
    return stage.root + min(transport.slots, len(stage.blocks)) * stage.largest_block + buffers


def _lead(following: StageMemory, stage: StageMemory, plan: Mapping[str, Keep]) -> int:
    if following is stage or plan[following.name] is Keep.RESIDENT:
        return 0
    return following.root + following.largest_block


def _require_room(
    stages: Sequence[StageMemory], plan: Mapping[str, Keep], budget: int, transport: Transport
) -> None:
    peaks = peak_memory(stages, plan, transport)
    name = max(peaks, key=peaks.__getitem__)
    if peaks[name] > budget:
        raise EnvironmentProblem(
            f"the network {name} needs {peaks[name] / GIB:.1f} GiB on the device even block by block, and "
            f"{budget / GIB:.1f} GiB may be used: make the picture or the chunks smaller, or use more GPUs"
        )
