"""One rank of the test of shared tokens and weights: writes the latents of two short jobs as safetensors.

Usage: shared_job.py FOLDER, with RANK and WORLD_SIZE in the environment.
"""

import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from safetensors.torch import save_file
from synthetic_latents import latents

from avatar_cli.families.synthetic.family import ALONE
from avatar_cli.runtime.memory_budget import Keep
from avatar_cli.runtime.mesh import open_mesh, open_sequence_group
from avatar_cli.runtime.residency.choice import Placement
from avatar_cli.worker.peers import leave_peers


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=ranks)
    placement = Placement(torch.device("cpu"), rank, open_mesh(ranks), keep=Keep.STREAM)
    save_file(latents(placement, ALONE), folder / f"weights{rank}.safetensors")
    save_file(latents(placement, open_sequence_group(ranks, ranks)), folder / f"tokens{rank}.safetensors")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
    leave_peers()
