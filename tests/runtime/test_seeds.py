import json
from pathlib import Path

import torch
from hypothesis import given
from hypothesis import strategies as st

from avatar_cli.runtime.chunks import ChunkKind, ChunkPlan
from avatar_cli.runtime.sampler import chunk_noise
from avatar_cli.runtime.seeds import chunk_seed

GOLDEN = Path(__file__).parent / "golden" / "chunk_seeds.json"
CPU = torch.device("cpu")


def test_seeds_never_change():
    for row in json.loads(GOLDEN.read_text()):
        assert chunk_seed(row["job_seed"], ChunkKind(row["kind"]), row["index"]) == row["seed"]


@given(st.integers(), st.sampled_from(ChunkKind), st.integers(0))
def test_seeds_fit_a_torch_generator(job_seed: int, kind: ChunkKind, index: int):
    seed = chunk_seed(job_seed, kind, index)
    assert 0 <= seed < 2**63
    assert torch.Generator().manual_seed(seed).initial_seed() == seed


def test_seeds_of_neighbouring_jobs_and_chunks_differ():
    seeds = {chunk_seed(job, kind, index) for job in range(50) for kind in ChunkKind for index in range(50)}
    assert len(seeds) == 50 * 2 * 50


def test_noise_depends_on_seed_and_chunk_name_alone():
    plan = ChunkPlan(48, 10, 6)
    noise = chunk_noise((1, 48, 21), 7, plan.n_chunk(3), CPU)
    torch.manual_seed(123)
    torch.rand(5)
    assert torch.equal(noise, chunk_noise((1, 48, 21), 7, ChunkPlan(20, 0, 0).n_chunk(3), CPU))
    for other in (
        chunk_noise((1, 48, 21), 8, plan.n_chunk(3), CPU),
        chunk_noise((1, 48, 21), 7, plan.i_chunk(3), CPU),
    ):
        assert (noise - other).abs().mean() > 0.5
