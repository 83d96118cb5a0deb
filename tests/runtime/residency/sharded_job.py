"""One rank of the tests of ShardedResidency: writes what it saw as JSON, and its outputs as safetensors.

Usage: sharded_job.py FOLDER, with RANK and WORLD_SIZE in the environment.
"""

import ctypes
import gc
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import torch
import torch.distributed as dist
from safetensors.torch import save_file
from schedule import sharded
from tiny_network import TinyNetwork, tiny_module
from torch import Tensor
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor

from avatar_cli.protocol.errors import EnvironmentProblem
from avatar_cli.protocol.events import Event, Interval
from avatar_cli.runtime.residency import resident
from avatar_cli.runtime.residency.choice import least
from avatar_cli.runtime.residency.sharded import Keep, ShardedResidency
from avatar_cli.worker.peers import leave_peers

TIME = torch.tensor(0.3)


def live_bytes() -> int:
    """Bytes of all tensors that Python can reach, each storage once."""
    gc.collect()
    storages = {}
    for tensor in gc.get_objects():
        if type(tensor) in (Tensor, torch.nn.Parameter) and not tensor.is_meta:
            storage = tensor.untyped_storage()
            storages[storage.data_ptr()] = storage.nbytes()
    return sum(storages.values())


def local_bytes(network: TinyNetwork) -> int:
    """Bytes of this rank's shards."""
    return sum(parameter.to_local().nbytes for parameter in network.parameters())


def rounds(residency: ShardedResidency, x: Tensor, count: int) -> list[Tensor]:
    """Some stages of three steps and a prefill each; the outputs of the last one."""
    outputs: list[Tensor] = []
    for _ in range(count):
        with resident(residency) as (network,):
            prefilled = network.prefill(x)
            outputs = [prefilled, *(network(x + step, TIME) for step in range(3))]
    return outputs


def memory_over_a_stage(residency: ShardedResidency, x: Tensor) -> dict[str, int]:
    """Live bytes before a stage, between two of its steps, and after it."""
    rounds(residency, x, 1)
    before = live_bytes()
    residency.enter()
    residency.network(x, TIME)
    within = live_bytes()
    residency.leave()
    return {"before": before, "within": within, "after": live_bytes()}


def growth(residency: ShardedResidency, x: Tensor) -> dict[str, int]:
    """What 200 chunks of one forward each add to the objects, bytes and lists that 20 have made."""

    def chunks(count: int) -> None:
        for _ in range(count):
            with resident(residency) as (network,):
                network(x, TIME)
        gc.collect()

    def found() -> dict[str, int]:
        memory = psutil.Process().memory_info().rss
        return {"objects": len(gc.get_objects()), "bytes": memory, "lists": fsdp_lists(residency)}

    chunks(20)
    before = found()
    chunks(200)
    return {name: value - before[name] for name, value in found().items()}


def gathered(network: TinyNetwork) -> list[bool]:
    """Whether full parameters of root and blocks are there, or on their way."""
    groups = [part._get_fsdp_state()._fsdp_param_group for part in (network, *network.blocks)]
    return [group.is_unsharded or group._all_gather_result is not None for group in groups]


def switching(
    first: ShardedResidency, second: ShardedResidency, x: Tensor
) -> tuple[dict[str, Any], list[Tensor]]:
    """Two models that take turns, the last step of each bringing in the next one."""
    seen: dict[str, Any] = {}
    outputs: list[Tensor] = []
    for outgoing, incoming in [(first, second), (second, first)] * 2:
        with resident(outgoing) as (network,):
            network(x, TIME)
            seen["during"] = gathered(incoming.network)
            outgoing.prefetch(incoming)
            outputs.append(network(x + 1, TIME))
            seen["prefetched"] = gathered(incoming.network)
        seen["left"] = gathered(outgoing.network)
        with resident(incoming) as (network,):
            outputs.append(network(x, TIME))
            seen["not again"] = gathered(outgoing.network)
    return seen, outputs


def anonymous_bytes() -> int:
    """Resident memory of this process that maps no file."""
    (line,) = (
        line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("RssAnon:")
    )
    return int(line.split()[1]) * 1024


@contextmanager
def highest(measure: Callable[[], int]) -> Iterator[list[int]]:
    """Looks as often as it can while the body runs; the list ends up with one number, above the beginning."""
    found: list[int] = []
    done = threading.Event()
    before = measure()

    def look() -> None:
        most = before
        while not done.is_set():
            most = max(most, measure())
        found.append(most - before)

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield found
    finally:
        done.set()
        watcher.join()


def loading(folder: Path, mesh: Any) -> dict[str, int]:
    """Host memory that loading a network of 24 MB takes at most, beside its shard and its largest tensor."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what is free goes back, and does not hide what is allocated
    with highest(anonymous_bytes) as peak:
        residency = ShardedResidency(
            tiny_module(folder / "wide.safetensors", name="wide"), mesh, lambda event: None, Keep.STREAM
        )
    sizes = [parameter.numel() * parameter.itemsize for parameter in residency.network.parameters()]
    seen = {"peak": peak[0], "shard": local_bytes(residency.network), "tensor": max(sizes)}
    residency.close()
    return seen


def fsdp_lists(residency: ShardedResidency) -> int:
    """Entries of the lists that FSDP keeps from forward to backward."""
    states = [part._get_fsdp_state() for part in residency._chain]
    orders = {id(state._comm_ctx): state._comm_ctx.post_forward_order for state in states}
    indices = [group._post_forward_indices for state in states for group in state._fsdp_param_groups]
    return sum(map(len, [*orders.values(), *indices]))


def refusal(make: Callable[[], Any]) -> str:
    """What a residency says when it cannot be made."""
    try:
        make()
    except EnvironmentProblem as error:
        return error.message
    return "nothing"


def main(folder: Path) -> None:
    gc.freeze()  # what importing made is not looked through again and again
    torch.set_num_threads(1)
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=world)
    mesh = init_device_mesh("cpu", (world,))
    events: list[Event] = []

    def record(event: Event) -> None:
        if len(events) < 4:  # a full list would be growth
            events.append(event)

    module = tiny_module(folder / "first.safetensors", name="first")
    other = tiny_module(folder / "second.safetensors", name="second")
    x = torch.randn(1, 7, 5, generator=torch.Generator().manual_seed(5))
    seen: dict[str, Any] = {}
    outputs: dict[str, Tensor] = {}
    with torch.no_grad():
        hold = ShardedResidency(module, mesh, record, Keep.HOLD)
        seen["loading"] = loading(folder, mesh)  # after a first one, which imports FSDP
        seen["placements"] = sorted({str(parameter.placements) for parameter in hold.network.parameters()})
        seen["distributed"] = all(isinstance(parameter, DTensor) for parameter in hold.network.parameters())
        seen["local bytes"] = local_bytes(hold.network)
        hold.leave()  # before anything ran
        stream = ShardedResidency(module, mesh, record, Keep.STREAM)
        second = ShardedResidency(other, mesh, record, Keep.STREAM, streams_of=stream)
        stay = ShardedResidency(module, mesh, record, Keep.RESIDENT)
        for name, residency in (("hold", hold), ("stream", stream), ("resident", stay)):
            for step, output in enumerate(rounds(residency, x, 3)):
                outputs[f"{name} {step}"] = output
            seen[f"memory {name}"] = memory_over_a_stage(residency, x)
            seen[f"growth {name}"] = growth(residency, x)
        seen["switching"], switched = switching(stream, second, x)
        outputs |= {f"switching {number}": output for number, output in enumerate(switched)}
        mixed = ShardedResidency(
            tiny_module(folder / "first.safetensors", dtype=torch.bfloat16, float32=("norm", "gate")),
            mesh,
            record,
            Keep.STREAM,
        )
        outputs |= {f"mixed {step}": output for step, output in enumerate(rounds(mixed, x, 2))}
        seen["least"] = least(100 + rank, torch.device("cpu"), mesh)
        seen["schedule"] = sharded(folder, rank, mesh)
        seen["refusal"] = refusal(
            lambda: ShardedResidency(tiny_module(folder / "wrong.safetensors"), mesh, record, Keep.HOLD)
        )
    seen["events"] = [[event.name, event.rank] for event in events if isinstance(event, Interval)]
    (folder / f"rank{rank}.json").write_text(json.dumps(seen))
    save_file(outputs, folder / f"rank{rank}.safetensors")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
    leave_peers()
