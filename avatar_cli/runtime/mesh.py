"""The ranks of a job as torch knows them: the mesh that shards weights, and the groups that share tokens."""

import math
import os
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup
    from torch.distributed.device_mesh import DeviceMesh


ANSWER_TIME = timedelta(seconds=8)  # in which a rank that computes on a CPU answers a collective
QUEUE_TIME = timedelta(minutes=5)  # on GPUs, where NCCL also counts the work that is queued before it


@dataclass(frozen=True)
class SequenceGroup:
    """The ranks that share the tokens of one network's calls; `rank` is this one's place among them."""

    rank: int = 0
    size: int = 1
    group: "ProcessGroup | None" = None  # None where a rank has all tokens


def current_rank() -> int:
    """This process's rank, 0 where there is only one."""
    return int(os.environ.get("RANK", "0"))


def compute_device() -> torch.device:
    """Where this rank computes: its GPU, or the CPU of a machine without any."""
    if torch.cuda.is_available():
        return torch.device("cuda", torch.cuda.current_device())
    return torch.device("cpu")


def collective_time() -> timedelta:
    """How long a collective may take; a group of ranks does not inherit it from the default group."""
    return QUEUE_TIME if compute_device().type == "cuda" else ANSWER_TIME


def open_mesh(ranks: int) -> "DeviceMesh | None":
    """The one-dimensional mesh of all ranks, None where there is one; every rank calls this at the same time.

    The ranks have joined the default process group before, which the mesh uses.
    """
    if ranks == 1:
        return None
    from torch.distributed.device_mesh import init_device_mesh

    return init_device_mesh(compute_device().type, (ranks,))


def sequence_degree(ranks: int, *sizes: int) -> int:
    """The largest number of ranks that can share tokens: it divides `ranks` and every one of `sizes`.

    `sizes` are the attention heads of a network and, where they are known, its numbers of tokens.
    """
    return math.gcd(ranks, *sizes)


def open_sequence_group(ranks: int, degree: int) -> SequenceGroup:
    """This rank's group of `degree` neighbours; every rank calls this at the same time.

    Where `degree` is less than `ranks`, each group computes the same as the others. The group is never the
    one that FSDP gathers weights with: NCCL runs what is asked of one group in order, so the attention would
    wait for weights that are fetched in advance.
    """
    if degree == 1:
        return SequenceGroup()
    import torch.distributed as dist

    own = None
    for first in range(0, ranks, degree):
        members = list(range(first, first + degree))
        group = dist.new_group(members, collective_time())  # a collective also of ranks outside of the group
        if dist.get_rank() in members:
            own = group
    return SequenceGroup(dist.get_rank() % degree, degree, own)
