"""An outer launcher: torchrun, srun or a script that starts one command for each rank of a job."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass

from avatar_cli.protocol.errors import UsageError


@dataclass(frozen=True)
class Outer:
    """This command's place among those that an outer launcher has started.

    `store` is where the ranks meet: host:port of a TCP store, or the path of a file that all of them can
    open. `attempt` counts the restarts of the job by its launcher.
    """

    rank: int
    local_rank: int  # among the ranks of this machine: the number of its GPU
    ranks: int
    store: str
    hosts_store: bool  # whether rank 0 opens the TCP store, and not the launcher
    one_machine: bool
    attempt: int = 0


def find_outer(environment: Mapping[str, str]) -> Outer | None:
    """The place that the environment gives to this command, None where it is on its own.

    RANK and WORLD_SIZE count first, as torchrun and most scripts set them; then a job step of srun with
    several tasks. Raises UsageError where what they say is incomplete.
    """
    if "RANK" in environment and "WORLD_SIZE" in environment:
        return _from_torchrun(environment)
    if "SLURM_STEP_ID" in environment and "SLURM_PROCID" in environment:
        return _from_srun(environment)
    return None


def _from_torchrun(environment: Mapping[str, str]) -> Outer | None:
    rank, ranks = _number(environment, "RANK"), _number(environment, "WORLD_SIZE")
    if ranks == 1:
        return None
    local_rank = _number(environment, "LOCAL_RANK") if "LOCAL_RANK" in environment else rank
    address = _tcp_address(environment)
    if not rank < ranks or address is None:
        raise UsageError(
            f"RANK={rank} and WORLD_SIZE={ranks} say that another program started this command as one of "
            "several, but MASTER_ADDR and MASTER_PORT do not say where they meet: set all of them, or none."
        )
    return Outer(
        rank=rank,
        local_rank=local_rank,
        ranks=ranks,
        store=address,
        hosts_store=environment.get("TORCHELASTIC_USE_AGENT_STORE") != "True",
        one_machine=environment.get("LOCAL_WORLD_SIZE") in (None, str(ranks)),
        attempt=int(environment.get("TORCHELASTIC_RESTART_COUNT", "0")),
    )


def _from_srun(environment: Mapping[str, str]) -> Outer | None:
    ranks = int(environment.get("SLURM_STEP_NUM_TASKS", "1"))
    if ranks == 1:
        return None
    one_machine = environment.get("SLURM_STEP_NUM_NODES", "1") == "1"
    step = "-".join(
        environment.get(name, "0") for name in ("SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT")
    )
    store = _tcp_address(environment) or (f"{tempfile.gettempdir()}/avatar-{step}" if one_machine else None)
    if store is None:
        raise UsageError(
            "srun has started this command on several machines: set MASTER_ADDR and MASTER_PORT to say "
            "where they meet."
        )
    return Outer(
        rank=_number(environment, "SLURM_PROCID"),
        local_rank=_number(environment, "SLURM_LOCALID"),
        ranks=ranks,
        store=store,
        hosts_store=True,
        one_machine=one_machine,
    )


def _tcp_address(environment: Mapping[str, str]) -> str | None:
    host, port = environment.get("MASTER_ADDR"), environment.get("MASTER_PORT")
    return f"{host}:{port}" if host and port and port.isdigit() else None


def _number(environment: Mapping[str, str], name: str) -> int:
    text = environment.get(name, "")
    if not text.isdigit():
        raise UsageError(f"{name}={text} in the environment is not a number: set it right, or unset it.")
    return int(text)
