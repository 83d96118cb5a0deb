"""Commands that an outer launcher has started, one for each rank."""

import signal

import pytest

TORCHRUN = {"MASTER_ADDR": "127.0.0.1", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
SRUN = {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2"}


@pytest.fixture
def start_both(start, tmp_path, unused_port):
    """Starts the commands of ranks 0 and 1 as torchrun or srun would."""

    def start_both(launcher, *options, **plan):
        jobs = []
        for rank in "01":
            if launcher == "torchrun":
                outer = TORCHRUN | {"RANK": rank, "LOCAL_RANK": rank, "MASTER_PORT": str(unused_port)}
            else:
                outer = SRUN | {"SLURM_PROCID": rank, "SLURM_LOCALID": rank, "TMPDIR": str(tmp_path)}
            jobs.append(start(*options, environment=outer, **plan))
        return jobs

    return start_both


@pytest.mark.parametrize("launcher", ["torchrun", "srun"])
def test_the_ranks_of_an_outer_launcher_are_joined_and_one_of_them_speaks(start_both, launcher):
    first, second = start_both(launcher, event="wait for peer")
    code, out, err = first.end()
    assert code == 0, err
    assert out.startswith(f"{first.output}: 60 frames, 2.40 s")
    assert second.end() == (0, "", "")


def test_each_command_starts_one_rank(start_both):
    first, second = start_both("srun", frames=200, delay=0.02, event="wait for peer")
    first.wait_for_frames()
    assert [len(job.ranks()) for job in (first, second)] == [1, 1]
    assert [job.end()[0] for job in (first, second)] == [0, 0]


def test_a_rank_that_is_killed_ends_both_commands(start_both):
    first, second = start_both("torchrun", "--quiet", frames=100_000, delay=0.02, event="wait for peer")
    family = [*first.wait_for_frames(), *second.family()]
    second.ranks()[0].kill()
    code, _, err = second.end()
    assert code == 5
    assert err.startswith("avatar: error: Rank 1 (process ")
    first.process.send_signal(signal.SIGTERM)  # as torchrun does when one of its commands has failed
    assert first.end()[0] == 130
    assert first.left(family, 10.0) == []


def test_what_contradicts_the_outer_launcher_is_refused(start):
    outer = TORCHRUN | {"RANK": "0", "MASTER_PORT": "29500"}
    code, _, err = start("--nproc", "3", environment=outer).end()
    assert code == 2
    assert err == (
        "avatar: error: --nproc 3 contradicts WORLD_SIZE=2, which says that another program has started the "
        "processes: leave --nproc out, or unset RANK and WORLD_SIZE.\n"
    )
