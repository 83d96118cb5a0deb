"""Chooses the residencies of a family's networks by where they run: families call `place` and nothing else."""

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

    One rank on a CPU keeps everything (`PlainResidency`), several ranks shard (`ShardedResidency`). Raises
    EnvironmentProblem.
    """
    plan = _plan([use for use in uses if not use.whole], placement)
    residencies: list[Residency] = []
    for use in uses:
        if use.whole or placement.mesh is None:
            residencies.append(PlainResidency(use.module, placement.device, emit, placement.rank))
        else:
            residencies.append(_sharded(use.module, placement, emit, plan[use.module.name], residencies))
    return tuple(residencies)


def _plan(uses: Sequence[Use], placement: Placement) -> Mapping[str, Keep]:
    stages = [use.memory() for use in uses]
    if placement.keep is not None:
        return {stage.name: placement.keep for stage in stages}
    if placement.device.type == "cpu" and placement.budget is None:
        return {stage.name: Keep.HOLD for stage in stages}
    budget = placement.budget
    if budget is None:
        budget = auto_budget(*torch.cuda.mem_get_info(placement.device))
    return plan_memory(stages, budget, GATHERED if placement.mesh is not None else COPIED)


def _sharded(
    module: Module[Any], placement: Placement, emit: EventSink, keep: Keep, before: Sequence[Residency]
) -> Residency:
    from avatar_cli.runtime.residency.sharded import ShardedResidency

    assert placement.mesh is not None
    earlier = next((residency for residency in before if isinstance(residency, ShardedResidency)), None)
    return ShardedResidency(module, placement.mesh, emit, keep, streams_of=earlier)


def _parameter_bytes(module: nn.Module) -> int:
    return sum(parameter.nbytes for parameter in module.parameters())
