"""Sharded over the ranks by FSDP2: each rank keeps a part of every tensor, blocks are gathered as they run.

The forward prefetch of the chain root, block 0, block 1, ... is explicit, so that the gathering of a block is
queued while the block before computes, also where the host waits in between.
"""

import gc
from itertools import pairwise
from typing import TYPE_CHECKING, Generic, TypeVar, cast

import torch
from torch import nn

from avatar_cli.protocol.events import EventSink
from avatar_cli.runtime.memory_budget import Keep
from avatar_cli.runtime.module import Module
from avatar_cli.runtime.recorder import interval
from avatar_cli.runtime.residency.block_trace import trace_forwards, trace_gathers
from avatar_cli.runtime.residency.protocol import Residency
from avatar_cli.runtime.weights import load_shards

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.fsdp import FSDPModule

Network = TypeVar("Network", bound=nn.Module)
CPU = torch.device("cpu")


class ShardedResidency(Generic[Network]):
    """One network over all ranks of a one-dimensional mesh; all ranks make the same calls in the same order.

    On CUDA the shards rest in pinned CPU memory.
    """

    def __init__(
        self,
        module: Module[Network],
        mesh: "DeviceMesh",
        emit: EventSink,
        keep: Keep,
        streams_of: "ShardedResidency | None" = None,
        trace: bool = False,
    ) -> None:
        """Reads this rank's slices. Raises EnvironmentProblem.

        `streams_of` is the residency whose streams this one shares, so that each can prefetch for the other.
        Residencies that share streams are all made before the first of their networks runs. `trace` tells
        every block's gathering and forward.
        """
        self.name = module.name
        self._emit = emit
        self._rank = mesh.get_rank()
        self._keep = keep
        self._following: list[FSDPModule] = []
        with interval(emit, f"load {module.name}", rank=self._rank):
            self._network = module.on_meta()
            blocks = list(module.blocks(self._network))
            self._chain = _shard(self._network, blocks, mesh, keep)
            load_shards(self._network, module.checkpoint, resting=CPU, compute=_compute_device(mesh))
            self._prepare(module.methods, streams_of)
        if trace:
            trace_gathers(module.name, self._chain, emit, self._rank)
            trace_forwards(module.name, blocks, emit, self._rank)

    def _prepare(self, methods: tuple[str, ...], streams_of: "ShardedResidency | None") -> None:
        from torch.distributed.fsdp import register_fsdp_forward_method, share_comm_ctx

        for method in methods:
            register_fsdp_forward_method(self._network, method)
        self._prefetch_own()
        root = self._chain[0]
        if streams_of is not None:
            share_comm_ctx([streams_of._chain[0], root])
        # What the first forward would do. It pins the shards, and another network can prefetch this one, or
        # `leave` reset it, only after it.
        root._get_fsdp_state()._lazy_init()

    @property
    def network(self) -> Network:
        """The network; its parameters are DTensors outside of a forward."""
        return self._network

    def enter(self) -> None:
        """Nothing moves yet: the root and each block are gathered by the call itself."""
        with interval(self._emit, f"enter {self.name}", rank=self._rank):
            pass

    def bring_in(self) -> None:
        """Nothing: a gathering that no forward asks for would run on the stream that computes."""

    def prefetch(self, following: Residency) -> None:
        """From now until `leave`, this network's last block gathers root and first block of `following`."""
        if isinstance(following, ShardedResidency) and following is not self:
            self._following += [part for part in following._chain[:2] if part not in self._following]
            self._chain[-1].set_modules_to_forward_prefetch(self._following)

    def leave(self) -> None:
        """Free all full parameters, and the list of what ran, which FSDP keeps for a backward."""
        with interval(self._emit, f"leave {self.name}", rank=self._rank):
            self._following.clear()
            self._prefetch_own()
            if self._keep is Keep.RESIDENT:
                _forget_what_ran(self._chain)
            else:
                self._chain[0].reset_iter_state()

    def close(self) -> None:
        """Drop the network and its shards; FSDP's hooks and groups refer to each other in circles."""
        self._chain[0].reset_iter_state()
        del self._network, self._chain
        gc.collect()

    def _prefetch_own(self) -> None:
        """Each part gathers the next one, and the last block the first one, for the next step."""
        for part, following in pairwise(self._chain):
            part.set_modules_to_forward_prefetch([following])
        self._chain[-1].set_modules_to_forward_prefetch(self._chain[1:2])


def _shard(network: nn.Module, blocks: list[nn.Module], mesh: "DeviceMesh", keep: Keep) -> "list[FSDPModule]":
    """Apply FSDP2 to every block and the rest of the network. Returns the root and the blocks.

    The root is never freed between steps: it is small, and could not be gathered ahead of the next step.
    """
    from torch.distributed.fsdp import CPUOffloadPolicy, OffloadPolicy, fully_shard

    on_cuda = mesh.device_type == "cuda"
    offload = CPUOffloadPolicy(pin_memory=True) if on_cuda else OffloadPolicy()
    for block in blocks:
        fully_shard(block, mesh=mesh, reshard_after_forward=keep is Keep.STREAM, offload_policy=offload)
    fully_shard(network, mesh=mesh, reshard_after_forward=False, offload_policy=offload)
    return cast("list[FSDPModule]", [network, *blocks])


def _forget_what_ran(chain: "list[FSDPModule]") -> None:
    """What `reset_iter_state` does with FSDP's lists, without freeing parameters."""
    states = [part._get_fsdp_state() for part in chain]
    states[0]._comm_ctx.post_forward_order.clear()
    for state in states:
        for group in state._fsdp_param_groups:
            group._post_forward_indices.clear()


def _compute_device(mesh: "DeviceMesh") -> torch.device:
    return torch.device("cuda", torch.cuda.current_device()) if mesh.device_type == "cuda" else CPU
