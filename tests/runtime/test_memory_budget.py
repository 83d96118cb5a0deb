import pytest

from avatar_cli.protocol.errors import EnvironmentProblem
from avatar_cli.runtime.memory_budget import (
    COPIED,
    GATHERED,
    GIB,
    Keep,
    StageMemory,
    auto_budget,
    peak_memory,
    plan_memory,
)

SMALL = StageMemory("encoder", root=1 * GIB, blocks=(), working=0, calls=1)
LARGE = StageMemory("a2v", root=1 * GIB, blocks=(2 * GIB,) * 10, working=4 * GIB, calls=8)
ONE_STEP = StageMemory("sr", root=1 * GIB, blocks=(2 * GIB,) * 5, working=6 * GIB, calls=1)
ALL = (SMALL, LARGE, ONE_STEP)


@pytest.mark.parametrize(
    ("budget", "keeps"),
    [
        (39, (Keep.RESIDENT, Keep.RESIDENT, Keep.RESIDENT)),  # 1 + 21 + 11 of weights, 6 of activations
        (38, (Keep.RESIDENT, Keep.HOLD, Keep.RESIDENT)),
        (37, (Keep.RESIDENT, Keep.HOLD, Keep.RESIDENT)),  # 12 resident, 21 held, 4 of activations
        (36, (Keep.RESIDENT, Keep.HOLD, Keep.STREAM)),
        (29, (Keep.RESIDENT, Keep.HOLD, Keep.STREAM)),  # 1, 21 held, 4 of activations, 3 of the next one
        (28, (Keep.STREAM, Keep.HOLD, Keep.STREAM)),  # the encoder leaves for the large one
        (27, (Keep.STREAM, Keep.STREAM, Keep.STREAM)),
        (12, (Keep.STREAM, Keep.STREAM, Keep.STREAM)),
    ],
)
def test_more_stays_the_more_memory_there_is(budget: int, keeps: tuple[Keep, ...]):
    plan = plan_memory(ALL, budget * GIB)
    assert tuple(plan[stage.name] for stage in ALL) == keeps
    assert max(peak_memory(ALL, plan).values()) <= budget * GIB


def test_too_little_for_two_blocks_is_refused_with_the_network_and_the_figures():
    with pytest.raises(
        EnvironmentProblem, match=r"network a2v needs 12\.0 GiB .* block by block, and 11\.0 GiB"
    ):
        plan_memory(ALL, 11 * GIB)


def test_peaks_count_what_runs_what_stays_and_what_comes_next():
    plan = {"encoder": Keep.RESIDENT, "a2v": Keep.HOLD, "sr": Keep.STREAM}
    peaks = {name: peak // GIB for name, peak in peak_memory(ALL, plan).items()}
    assert peaks == {
        "encoder": 1 + 3,
        "a2v": 1 + 21 + 4 + 3,
        "sr": 1 + (1 + 2 * 2) + 6,
    }


def test_gathering_needs_two_more_buffers_than_copying():
    plan = {"a2v": Keep.STREAM}
    copied, gathered = (peak_memory([LARGE], plan, transport)["a2v"] for transport in (COPIED, GATHERED))
    assert gathered - copied == 2 * 2 * GIB


def test_a_network_alone_does_not_wait_for_itself():
    assert peak_memory([LARGE], {"a2v": Keep.HOLD})["a2v"] == 25 * GIB


def test_nothing_to_place_needs_nothing():
    assert plan_memory([], 0) == {}


def test_some_of_the_device_is_left_alone():
    assert auto_budget(free=100 * GIB, total=140 * GIB) == pytest.approx(91.6 * GIB, rel=1e-3)
    assert auto_budget(free=GIB, total=140 * GIB) == 0
