import dataclasses

import pytest

from avatar_cli.cli.configuration import configure
from avatar_cli.cli.processes import resolve_compute
from avatar_cli.cli.request import Request
from avatar_cli.launch.ranks import own_ranks, publishes, settle_ranks
from avatar_cli.protocol.errors import UsageError
from avatar_cli.protocol.job import AUTO_RANKS, Compute

TORCHRUN = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": "1234"}
SRUN = {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0", "SLURM_LOCALID": "0"}


def resolve(nproc, environment):
    return resolve_compute(configure(Request({"nproc": nproc})), environment)


def test_a_command_starts_as_many_processes_as_it_is_told():
    assert resolve(None, {}) == Compute(1, 1)
    assert resolve("3", {}) == Compute(3, 1)
    assert resolve("auto", {}) == Compute(AUTO_RANKS, 1)


@pytest.mark.parametrize("nproc", [None, "2", "auto"])
@pytest.mark.parametrize("environment", [TORCHRUN, SRUN])
def test_the_processes_of_an_outer_launcher_are_joined(nproc, environment):
    compute = resolve(nproc, environment)
    assert compute.ranks == 2
    assert list(own_ranks(compute)) == [compute.outer.rank]
    assert publishes(compute) == (environment is SRUN)


def test_srun_also_starts_commands_that_have_nothing_to_do_with_each_other():
    assert resolve("1", SRUN) == Compute(1, 1)


def test_a_number_that_contradicts_torchrun_is_refused():
    with pytest.raises(UsageError, match="--nproc 3 contradicts WORLD_SIZE=2"):
        resolve("3", TORCHRUN)


def test_zero_processes_are_refused():
    with pytest.raises(UsageError, match="--nproc must be auto, or a whole number from 1 to 64, not '0'"):
        resolve("0", {})


@dataclasses.dataclass
class Launcher:
    count: int

    def gpus(self):
        return self.count


@dataclasses.dataclass(frozen=True)
class Job:
    compute: Compute


@pytest.mark.parametrize(("gpus", "ranks"), [(0, 1), (1, 1), (8, 8)])
def test_auto_is_one_process_for_each_gpu_and_one_without(gpus, ranks):
    assert settle_ranks(Job(Compute(AUTO_RANKS, 1)), Launcher(gpus)).compute.ranks == ranks
    assert settle_ranks(Job(Compute(3, 1)), Launcher(gpus)).compute.ranks == 3
