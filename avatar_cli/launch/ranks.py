"""Which ranks this command starts."""

import dataclasses
from collections.abc import Sequence

from avatar_cli.launch.agent_process import AgentProcess
from avatar_cli.protocol.job import AUTO_RANKS, Compute, RenderJob

PUBLISHING_RANK = 0


def settle_ranks(job: RenderJob, agent: AgentProcess) -> RenderJob:
    """The job with a number of ranks where it asks for as many as there are GPUs: one on a CPU."""
    if job.compute.ranks != AUTO_RANKS:
        return job
    return dataclasses.replace(job, compute=dataclasses.replace(job.compute, ranks=max(1, agent.gpus())))


def own_ranks(compute: Compute) -> Sequence[int]:
    """All of the job's; only this command's own where an outer launcher starts them."""
    return (compute.outer.rank,) if compute.outer else range(compute.ranks)


def publishes(compute: Compute) -> bool:
    """Whether the rank that publishes is one of this command."""
    return PUBLISHING_RANK in own_ranks(compute)
