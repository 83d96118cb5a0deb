"""Ranks that share weights, and tokens too, make the latents of one rank."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from synthetic_latents import latents

from avatar_cli.families.synthetic.family import ALONE
from avatar_cli.families.synthetic.token_plan import token_degree
from avatar_cli.runtime.residency.choice import Placement

RANKS = 2
JOB = Path(__file__).parent / "shared_job.py"
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What every rank has written."""
    folder = tmp_path_factory.mktemp("shared")
    environment = os.environ | {"WORLD_SIZE": str(RANKS), "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    ranks = [
        subprocess.Popen(
            [sys.executable, str(JOB), str(folder)],
            env=environment | {"RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(RANKS)
    ]
    messages = [process.communicate(timeout=200)[0] for process in ranks]
    assert [process.returncode for process in ranks] == [0] * RANKS, "\n".join(messages)
    return folder


def written(folder: Path, name: str) -> list[dict[str, torch.Tensor]]:
    return [load_file(folder / f"{name}{rank}.safetensors") for rank in range(RANKS)]


@pytest.fixture(scope="module")
def alone(one_thread: None) -> dict[str, torch.Tensor]:
    return latents(Placement(torch.device("cpu")), ALONE)


def test_sharded_weights_change_nothing(folder, alone):
    for rank in written(folder, "weights"):
        for name, tensor in alone.items():
            assert torch.equal(rank[name], tensor), name


def test_shared_tokens_change_rounding_alone(folder, alone):
    for rank in written(folder, "tokens"):
        for name, tensor in alone.items():
            assert (rank[name] - tensor).abs().max() <= 1e-5 * tensor.abs().max(), name


@pytest.mark.parametrize(("ranks", "degree"), [(1, 1), (2, 2), (3, 1), (4, 4), (6, 2), (8, 4)])
def test_as_many_ranks_share_as_tokens_and_heads_divide_among(tiny, ranks, degree):
    assert token_degree(tiny, ranks) == degree
