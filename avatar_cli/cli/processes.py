"""How many processes a job has, and who starts them: this command, or an outer launcher that started it."""

from collections.abc import Mapping

from avatar_cli.cli.configuration import Configuration
from avatar_cli.protocol.errors import UsageError
from avatar_cli.protocol.job import AUTO_RANKS, Compute
from avatar_cli.protocol.outer import find_outer

_RANKS = "compute.ranks"


def resolve_compute(configuration: Configuration, environment: Mapping[str, str]) -> Compute:
    """Processes and threads of the job.

    The ranks of an outer launcher are joined. srun also starts commands that have nothing to do with each
    other: a number of processes that the user asked for, and that is not srun's, means that. Raises
    UsageError where what is asked for contradicts RANK and WORLD_SIZE.
    """
    ranks, threads = configuration[_RANKS], configuration["compute.threads"]
    outer = find_outer(environment)
    if outer is None:
        return Compute(ranks, threads)
    if _RANKS not in configuration.chosen or ranks in (AUTO_RANKS, outer.ranks):
        return Compute(outer.ranks, threads, outer)
    if "WORLD_SIZE" not in environment:
        return Compute(ranks, threads)
    raise UsageError(
        f"--nproc {ranks} contradicts WORLD_SIZE={outer.ranks}, which says that another program has started "
        "the processes: leave --nproc out, or unset RANK and WORLD_SIZE."
    )
