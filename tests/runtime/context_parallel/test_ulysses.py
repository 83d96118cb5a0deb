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
from tiny_dit import CONFIG, build, generate, sequence_plan, tiny_dit, write_checkpoint
from torch import Tensor

from avatar_cli.runtime.context_parallel import SequencePlan, Split, context_parallel
from avatar_cli.runtime.mesh import SequenceGroup, sequence_degree
from avatar_cli.runtime.residency import PlainResidency, resident

RANKS = 2
JOB = Path(__file__).parent / "ulysses_job.py"
ROOT = Path(__file__).parents[3]
TOLERANCE = 1e-5


@dataclass(frozen=True)
class Run:
    """What every rank saw and computed, and what one process computes."""

    seen: list[dict[str, Any]]
    outputs: list[dict[str, Tensor]]
    expected: dict[str, Tensor]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("ulysses")
    write_checkpoint(folder / "dit.safetensors")
    write_checkpoint(folder / "odd.safetensors", heads=3)
    processes = [start_rank(rank, folder) for rank in range(RANKS)]
    messages = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * RANKS, "\n".join(messages)
    one = PlainResidency(tiny_dit(folder / "dit.safetensors"), torch.device("cpu"), lambda event: None)
    with torch.no_grad(), resident(one) as (network,):
        expected = generate(network)
    return Run(
        seen=[json.loads((folder / f"rank{rank}.json").read_text()) for rank in range(RANKS)],
        outputs=[load_file(folder / f"rank{rank}.safetensors") for rank in range(RANKS)],
        expected=expected,
    )


def start_rank(rank: int, folder: Path) -> subprocess.Popen[str]:
    environment = os.environ | {
        "RANK": str(rank),
        "WORLD_SIZE": str(RANKS),
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(JOB.parent)]),
    }
    return subprocess.Popen(
        [sys.executable, str(JOB), str(folder)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.parametrize("kind", ["whole", "hold", "stream"])
@pytest.mark.parametrize("name", ["cached", "alone"])
def test_every_rank_gets_the_latents_of_one_process(run: Run, kind: str, name: str):
    expected = run.expected[name]
    assert expected.abs().max() > 1
    for outputs in run.outputs:
        assert (outputs[f"{kind} {name}"] - expected).abs().max() < TOLERANCE


def test_ranks_that_share_tokens_have_places_in_order(run: Run):
    assert [seen["place"] for seen in run.seen] == [0, 1]
    assert [seen["degree"] for seen in run.seen] == [2, 2]


def test_heads_that_do_not_divide_give_a_smaller_degree(run: Run):
    assert [seen["degree of 3 heads"] for seen in run.seen] == [1, 1]
    assert sequence_degree(8, 40) == 8
    assert sequence_degree(8, 12) == 4
    assert sequence_degree(8, 32, 1540) == 4


def test_tokens_that_do_not_divide_are_refused_on_every_rank_and_nobody_hangs(run: Run):
    for seen in run.seen:
        assert seen["indivisible tokens"] == (
            "The 5 tokens in x of blocks.0 of tiny_dit do not divide among 2 processes: "
            "choose another --nproc, or another --size."
        )
        assert seen["indivisible heads"].startswith("The 3 attention heads of tiny_dit do not divide among 2")
        assert seen["still there"]


def test_the_names_of_parameters_stay(run: Run):
    names = sorted(name for name, _ in build(CONFIG).named_parameters())
    assert all(seen["parameters"] == names for seen in run.seen)


def test_one_rank_leaves_the_module_as_it_is(tmp_path: Path):
    module = tiny_dit(tmp_path / "dit.safetensors")
    assert context_parallel(module, sequence_plan, SequenceGroup()) is module


def test_a_split_of_an_argument_that_does_not_exist_is_a_mistake_of_the_family(tmp_path: Path):
    write_checkpoint(tmp_path / "dit.safetensors")

    def wrong(network):
        return SequencePlan((Split(network.blocks[0], "y", 1),), gathers=(), cores=())

    module = context_parallel(tiny_dit(tmp_path / "dit.safetensors"), wrong, SequenceGroup(0, 2))
    with pytest.raises(ValueError, match="'y' is not in list"):
        module.on_meta()
