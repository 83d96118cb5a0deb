"""One rank of the tests of context parallel: writes its latents as safetensors, and what it saw as JSON.

Usage: ulysses_job.py FOLDER, with RANK and WORLD_SIZE in the environment.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from safetensors.torch import save_file
from tiny_dit import CONFIG, SPOTS, generate, sequence_plan, tiny_dit

from avatar_cli.protocol.errors import UsageError
from avatar_cli.runtime.context_parallel import context_parallel
from avatar_cli.runtime.mesh import current_rank, open_mesh, open_sequence_group, sequence_degree
from avatar_cli.runtime.residency import PlainResidency, resident
from avatar_cli.runtime.residency.sharded import Keep, ShardedResidency
from avatar_cli.worker.peers import leave_peers


def refusal(call: Callable[[], Any]) -> str:
    """The sentence of the error that `call` ends with."""
    try:
        call()
    except UsageError as error:
        return error.message
    return "nothing"


def main(folder: Path, ranks: int) -> None:
    torch.set_num_threads(1)
    rank = current_rank()
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=ranks)
    mesh = open_mesh(ranks)
    degree = sequence_degree(ranks, CONFIG["heads"], SPOTS)
    group = open_sequence_group(ranks, degree)
    alone = open_sequence_group(ranks, sequence_degree(ranks, 3))
    seen: dict[str, Any] = {"degree": degree, "degree of 3 heads": alone.size, "place": group.rank}

    module = context_parallel(tiny_dit(folder / "dit.safetensors"), sequence_plan, group)
    residencies = {
        "whole": PlainResidency(module, torch.device("cpu"), lambda event: None),
        "hold": ShardedResidency(module, mesh, lambda event: None, Keep.HOLD),
        "stream": ShardedResidency(module, mesh, lambda event: None, Keep.STREAM),
    }
    outputs = {}
    with torch.no_grad():
        for kind, residency in residencies.items():
            with resident(residency) as (network,):
                for name, latents in generate(network).items():
                    outputs[f"{kind} {name}"] = latents
        with resident(residencies["whole"]) as (network,):
            seen["indivisible tokens"] = refusal(lambda: generate(network, spots=5))
            seen["parameters"] = sorted(name for name, _ in network.named_parameters())
        odd = context_parallel(tiny_dit(folder / "odd.safetensors"), sequence_plan, group)
        with resident(PlainResidency(odd, torch.device("cpu"), lambda event: None)) as (network,):
            seen["indivisible heads"] = refusal(lambda: generate(network))
        seen["still there"] = bool(torch.isfinite(generate(residencies["whole"].network)["alone"]).all())
    (folder / f"rank{rank}.json").write_text(json.dumps(seen))
    save_file(outputs, folder / f"rank{rank}.safetensors")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(os.environ["WORLD_SIZE"]))
    leave_peers()
