import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from schedule import SHARDED, write_weights
from tiny_network import CONFIG, TinyNetwork, random_network, tiny_module, write_tiny_checkpoint
from torch import Tensor

from avatar_cli.runtime.residency import PlainResidency
from avatar_cli.runtime.weights import save_checkpoint

RANKS = 2
JOB = Path(__file__).parent / "sharded_job.py"
ROOT = Path(__file__).parents[3]
TIME = torch.tensor(0.3)


@dataclass(frozen=True)
class Run:
    """What every rank saw and computed, and what one process computes."""

    seen: list[dict[str, Any]]
    outputs: list[dict[str, Tensor]]
    expected: dict[str, Tensor]
    full_bytes: int


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("sharded")
    write_tiny_checkpoint(folder / "first.safetensors", seed=1)
    write_tiny_checkpoint(folder / "second.safetensors", seed=2)
    wrong = {**random_network().state_dict(), "head.weight": torch.zeros(5, 21)}
    save_checkpoint(folder / "wrong.safetensors", wrong, CONFIG)
    wide = {"width": 1000, "depth": 1, "channels": 5}
    save_checkpoint(folder / "wide.safetensors", random_network(config=wide).state_dict(), wide)
    write_weights(folder)
    ranks = [start_rank(rank, folder) for rank in range(RANKS)]
    messages = [process.communicate(timeout=240)[0] for process in ranks]
    assert [process.returncode for process in ranks] == [0] * RANKS, "\n".join(messages)
    first, second = plain(folder, "first"), plain(folder, "second")
    mixed = plain(folder, "first", dtype=torch.bfloat16, float32=("norm", "gate"))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with torch.no_grad():
        x = torch.randn(1, 7, 5, generator=torch.Generator().manual_seed(5))
        stage, stage_mixed = (
            [network.prefill(x), *(network(x + step, TIME) for step in range(3))]
            for network in (first, mixed)
        )
        turns = [first(x + 1, TIME), second(x, TIME), second(x + 1, TIME), first(x, TIME)] * 2
    torch.set_num_threads(threads)
    keeps = ("hold", "stream", "resident")
    expected = {f"{keep} {step}": output for keep in keeps for step, output in enumerate(stage)}
    expected |= {f"mixed {step}": output for step, output in enumerate(stage_mixed)}
    expected |= {f"switching {number}": output for number, output in enumerate(turns)}
    return Run(
        seen=[json.loads((folder / f"rank{rank}.json").read_text()) for rank in range(RANKS)],
        outputs=[load_file(folder / f"rank{rank}.safetensors") for rank in range(RANKS)],
        expected=expected,
        full_bytes=sum(parameter.nbytes for parameter in first.parameters()),
    )


def plain(folder: Path, name: str, **options: object) -> TinyNetwork:
    module = tiny_module(folder / f"{name}.safetensors", **options)
    return PlainResidency(module, torch.device("cpu"), lambda event: None).network


def start_rank(rank: int, folder: Path) -> subprocess.Popen[str]:
    environment = os.environ | {
        "RANK": str(rank),
        "WORLD_SIZE": str(RANKS),
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT, JOB.parents[1], JOB.parents[1] / "golden"))),
    }
    return subprocess.Popen(
        [sys.executable, str(JOB), str(folder)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_every_rank_computes_bit_for_bit_what_one_process_computes(run: Run):
    for outputs in run.outputs:
        assert outputs.keys() == run.expected.keys()
        for name, expected in run.expected.items():
            assert torch.equal(outputs[name], expected), name


def test_each_rank_reads_its_part_of_every_parameter(run: Run):
    assert all(seen["distributed"] for seen in run.seen)
    assert [seen["placements"] for seen in run.seen] == [["(Shard(dim=0),)"]] * RANKS
    assert sum(seen["local bytes"] for seen in run.seen) == run.full_bytes
    assert all(seen["local bytes"] < 0.55 * run.full_bytes for seen in run.seen)


def test_holding_keeps_the_full_parameters_until_leave_and_streaming_does_not(run: Run):
    for seen in run.seen:
        hold, stream = seen["memory hold"], seen["memory stream"]
        assert hold["within"] - hold["before"] >= run.full_bytes
        assert (
            stream["within"] - stream["before"] < 0.4 * run.full_bytes
        )  # root, and block 0 for the next step
        for memory in (hold, stream):
            assert memory["after"] == memory["before"]


def test_what_is_resident_is_gathered_once_and_stays(run: Run):
    for seen in run.seen:
        memory = seen["memory resident"]
        assert memory["before"] == memory["within"] == memory["after"]


def test_loading_takes_no_more_host_memory_than_the_shard_and_one_tensor(run: Run):
    for seen in run.seen:
        loading = seen["loading"]
        assert loading["tensor"] < loading["shard"]
        assert 0.9 * loading["shard"] < loading["peak"] < loading["shard"] + loading["tensor"]


def test_ranks_plan_with_the_smallest_budget_of_all(run: Run):
    assert [seen["least"] for seen in run.seen] == [100] * RANKS


def test_the_schedule_is_the_golden_one_on_every_rank(run: Run):
    for seen in run.seen:
        assert seen["schedule"] == SHARDED.read_text().splitlines()


def test_nothing_grows_over_two_hundred_chunks(run: Run):
    for seen in run.seen:
        for name in ("growth hold", "growth stream", "growth resident"):
            assert seen[name]["lists"] == 0
            assert seen[name]["objects"] < 20
            assert seen[name]["bytes"] < 2_000_000


def test_the_last_step_of_a_model_brings_in_root_and_first_block_of_the_next(run: Run):
    for seen in run.seen:
        assert seen["switching"]["during"] == [False] * 4
        assert seen["switching"]["prefetched"] == [True, True, False, False]
        assert seen["switching"]["left"] == [False] * 4
        assert seen["switching"]["not again"] == [False] * 4


def test_entering_and_leaving_are_events(run: Run):
    for rank, seen in enumerate(run.seen):
        names = ["load first", "leave first", "load first", "load second"]
        assert seen["events"] == [[name, rank] for name in names]


def test_a_checkpoint_that_does_not_fit_is_refused_on_every_rank(run: Run):
    for seen in run.seen:
        assert "tensor head.weight" in seen["refusal"]
        assert "wrong.safetensors" in seen["refusal"]
