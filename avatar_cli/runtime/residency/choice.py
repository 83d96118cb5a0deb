"""Chooses residencies for networks by where they run: families call `place` and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from avatar_cli.protocol.events import EventSink
from avatar_cli.runtime.memory_budget import (
    COPIED,
    GATHERED,
    Keep,
    StageMemory,
    auto_budget,
    plan_memory,
)
from avatar_cli.runtime.module import Module
from avatar_cli.runtime.residency.copy_engine import CopyEngine
from avatar_cli.runtime.residency.plain import PlainResidency
from avatar_cli.runtime.residency.protocol import Residency
from avatar_cli.runtime.residency.streamed import StreamedResidency

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh


@dataclass(frozen=True)
class Use:
    """One network, and how a job uses it."""

    module: Module[Any]
    calls: int = 1  # calls between enter and leave
    working_bytes: int = 0  # activations and caches of its largest call, on the device
    whole: bool = False  # stays whole on every rank: small networks, and those that not every rank calls

    def memory(self) -> StageMemory:
        """Bytes of the full network, from its structure alone."""
        network = self.module.on_meta()
        blocks = tuple(_parameter_bytes(block) for block in self.module.blocks(network))
        root = _parameter_bytes(network) - sum(blocks)
        return StageMemory(self.module.name, root, blocks, self.working_bytes, self.calls)


@dataclass(frozen=True)
class Placement:
    """Where networks run.

    `mesh` is the one-dimensional mesh of all ranks, None where there is one rank. `budget` is the device
    memory, in bytes, that weights and activations may take; None is what is free now, less a headroom.
    `keep` overrules what the budget allows, and `engine` the device's own copies: both are for measuring.
    """

    device: torch.device
    rank: int = 0
    mesh: "DeviceMesh | None" = None
    budget: int | None = None
    keep: Keep | None = None
    engine: CopyEngine | None = None
    trace_blocks: bool = False  # an Interval for every copy, gather and forward of a block


def place(uses: Sequence[Use], placement: Placement, emit: EventSink) -> tuple[Residency, ...]:
    """Load the networks, in the order in which a job runs them; returns their residencies in that order.

    One rank on a CPU keeps everything (`PlainResidency`), one rank on a GPU streams from pinned memory what
    does not fit (`StreamedResidency`), several ranks shard (`ShardedResidency`). Each residency can bring in
    the others. Raises EnvironmentProblem.
    """
    engine = _engine(placement, emit)
    plan = _plan(uses, placement, streamed=engine is not None)
    residencies: list[Residency] = []
    for use in uses:
        keep = plan[use.module.name]
        if not use.whole and placement.mesh is not None:
            residencies.append(_sharded(use.module, placement, emit, keep, residencies))
        elif engine is not None and keep is not Keep.RESIDENT:
            streamed = StreamedResidency(
                use.module, engine, emit, keep, placement.rank, placement.trace_blocks
            )
            residencies.append(streamed)
        else:
            residencies.append(PlainResidency(use.module, placement.device, emit, placement.rank))
    return tuple(residencies)


def _engine(placement: Placement, emit: EventSink) -> CopyEngine | None:
    if placement.mesh is not None or placement.engine is not None or placement.device.type != "cuda":
        return placement.engine
    from avatar_cli.runtime.residency.cuda_copies import CudaCopies

    return CudaCopies(placement.device, emit if placement.trace_blocks else None, placement.rank)


def _plan(uses: Sequence[Use], placement: Placement, streamed: bool) -> Mapping[str, Keep]:
    whole = {use.module.name: Keep.RESIDENT for use in uses if use.whole}
    coming = [use for use in uses if not use.whole]
    budget = _budget(placement)
    if placement.keep is not None or budget is None:
        keep = placement.keep or (Keep.HOLD if placement.mesh else Keep.RESIDENT)
        return whole | {use.module.name: keep for use in coming}
    for stage in (use.memory() for use in uses if use.whole):
        budget -= stage.weights + stage.working  # it may run in another thread, beside any of the others
    stages = [use.memory() for use in coming]
    return whole | plan_memory(stages, budget, COPIED if streamed else GATHERED)


def _budget(placement: Placement) -> int | None:
    """Bytes to plan with; a CPU's memory is not planned unless it is asked for."""
    if placement.budget is not None or placement.device.type != "cuda":
        return placement.budget
    budget = auto_budget(*torch.cuda.mem_get_info(placement.device))
    return budget if placement.mesh is None else least(budget, placement.device, placement.mesh)


def least(budget: int, device: torch.device, mesh: "DeviceMesh") -> int:
    """The smallest budget of all ranks: they must make the same plan."""
    import torch.distributed as dist

    agreed = torch.tensor(budget, device=device)
    dist.all_reduce(agreed, dist.ReduceOp.MIN, mesh.get_group())
    return int(agreed)


def _sharded(
    module: Module[Any], placement: Placement, emit: EventSink, keep: Keep, before: Sequence[Residency]
) -> Residency:
    from avatar_cli.runtime.residency.sharded import ShardedResidency

    assert placement.mesh is not None
    earlier = next((residency for residency in before if isinstance(residency, ShardedResidency)), None)
    return ShardedResidency(
        module, placement.mesh, emit, keep, streams_of=earlier, trace=placement.trace_blocks
    )


def _parameter_bytes(module: nn.Module) -> int:
    return sum(parameter.nbytes for parameter in module.parameters())
