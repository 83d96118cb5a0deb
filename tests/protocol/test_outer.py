import pytest

from avatar_cli.protocol.errors import UsageError
from avatar_cli.protocol.outer import Outer, find_outer

TORCHRUN = {
    "RANK": "5",
    "LOCAL_RANK": "1",
    "WORLD_SIZE": "8",
    "LOCAL_WORLD_SIZE": "4",
    "MASTER_ADDR": "node-1",
    "MASTER_PORT": "29500",
    "TORCHELASTIC_USE_AGENT_STORE": "True",
    "TORCHELASTIC_RESTART_COUNT": "2",
}
SRUN = {
    "SLURM_JOB_ID": "77",
    "SLURM_STEP_ID": "3",
    "SLURM_STEP_NUM_TASKS": "2",
    "SLURM_STEP_NUM_NODES": "1",
    "SLURM_PROCID": "1",
    "SLURM_LOCALID": "1",
}


def test_a_command_on_its_own_has_no_place():
    assert find_outer({}) is None
    assert find_outer(TORCHRUN | {"WORLD_SIZE": "1", "RANK": "0"}) is None
    assert find_outer(SRUN | {"SLURM_STEP_NUM_TASKS": "1"}) is None


def test_a_batch_script_of_slurm_is_no_step_with_tasks():
    assert find_outer({"SLURM_JOB_ID": "77", "SLURM_PROCID": "0", "SLURM_NTASKS": "8"}) is None


def test_the_place_that_torchrun_gives():
    assert find_outer(TORCHRUN) == Outer(5, 1, 8, "node-1:29500", False, one_machine=False, attempt=2)


def test_a_script_that_sets_the_usual_variables_hosts_the_store_itself():
    environment = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": "1234"}
    assert find_outer(environment) == Outer(0, 0, 2, "localhost:1234", True, one_machine=True)


def test_tasks_of_srun_on_one_machine_meet_in_a_file_of_their_step():
    place = find_outer(SRUN)
    assert place is not None
    assert (place.rank, place.local_rank, place.ranks, place.one_machine) == (1, 1, 2, True)
    assert place.store.endswith("/avatar-77-3-0")
    assert find_outer(SRUN | {"SLURM_STEP_ID": "4"}).store != place.store
    assert find_outer(SRUN | {"SLURM_RESTART_COUNT": "1"}).store != place.store


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"RANK": "0", "WORLD_SIZE": "2"}, "MASTER_ADDR and MASTER_PORT do not say"),
        (TORCHRUN | {"RANK": "one"}, "RANK=one in the environment is not a number"),
        (SRUN | {"SLURM_STEP_NUM_NODES": "2"}, "on several machines: set MASTER_ADDR"),
    ],
)
def test_what_is_incomplete_is_refused(environment, message):
    with pytest.raises(UsageError, match=message):
        find_outer(environment)
