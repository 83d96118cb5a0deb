"""Figures beside the chunk loop: the bare networks, plain copies, and peaks of memory."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from avatar_cli.evaluation.runtime_bench.loop import ChunkLoop, Part
from avatar_cli.evaluation.runtime_bench.results import Overhead
from avatar_cli.families.synthetic.example_calls import example_calls
from avatar_cli.families.synthetic.modules import modules
from avatar_cli.families.synthetic.sizes import SyntheticSize
from avatar_cli.runtime.module import Module
from avatar_cli.runtime.recorder import memory_peaks

_COPIES = 5
_PLAIN_COPY_BYTES = 256 << 20  # on a GPU; a quarter of what a block of a large model has
_HOST_COPY_BYTES = 16 << 20


def overhead(
    loop: ChunkLoop, size: SyntheticSize, device: torch.device, chunks: int, rounds: int
) -> Overhead:
    """What stages, pipeline and events add to the calls of the networks; `loop` is all resident.

    A job of one chunk is taken off one of `chunks` more, so that only chunks count that have a border. The
    best of all rounds counts: whatever else a machine does makes both slower, never faster.
    """
    bare = partial(_repeat, loop.bare_chunk(example_calls(size, device)), chunks)
    first = partial(loop.run, Part(1, decode=True))
    more = partial(loop.run, Part(1 + chunks, decode=True))
    times = [[_seconds(call, device) for call in (bare, first, more)] for _ in range(rounds)]
    alone, one, all_of_them = (min(seconds) for seconds in zip(*times, strict=True))
    return Overhead((all_of_them - one) / chunks, alone / chunks)


def plain_copy_rate(device: torch.device) -> float:
    """Bytes a second of the best of some large copies, from pinned memory to a GPU, else within memory."""
    on_gpu = device.type == "cuda"
    nbytes = _PLAIN_COPY_BYTES if on_gpu else _HOST_COPY_BYTES
    source = torch.ones(nbytes, dtype=torch.uint8, pin_memory=on_gpu)
    target = torch.empty(nbytes, dtype=torch.uint8, device=device)
    seconds = []
    for _ in range(_COPIES):
        _wait(device)
        begin = time.perf_counter()
        target.copy_(source, non_blocking=True)
        _wait(device)
        seconds.append(time.perf_counter() - begin)
    return nbytes / min(seconds)


def peaks_of(loop: ChunkLoop, chunks: int, device: torch.device) -> dict[int, int]:
    """Highest memory so far after 1, 10, 100, ... chunks: of tensors on a GPU, else of this process."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    peaks: dict[int, int] = {}

    def note(done: int) -> None:
        if done == 10 ** (len(str(done)) - 1):
            memory = memory_peaks()
            peaks[done] = memory.device_peak or memory.host_peak

    loop.run(Part(chunks, decode=True), note)
    return peaks


def part_bytes(size: SyntheticSize) -> dict[str, int]:
    """Bytes of root and blocks of every network, by the names that copies have in events."""
    found: dict[str, int] = {}
    for module in modules(size).all():
        found |= _parts(module)
    return found


def _parts(module: Module[Any]) -> dict[str, int]:
    network = module.on_meta()
    blocks = [_nbytes(block) for block in module.blocks(network)]
    named = {f"{module.name}.{index}": nbytes for index, nbytes in enumerate(blocks)}
    return {f"{module.name}.root": _nbytes(network) - sum(blocks), **named}


def _nbytes(network: torch.nn.Module) -> int:
    return sum(parameter.nbytes for parameter in network.parameters())


def _repeat(call: Callable[[], Any], count: int) -> None:
    for _ in range(count):
        call()


def _seconds(call: Callable[[], Any], device: torch.device) -> float:
    """Processor time of all threads on a CPU, elapsed time on a GPU."""
    clock = time.perf_counter if device.type == "cuda" else time.process_time
    _wait(device)
    begin = clock()
    call()
    _wait(device)
    return clock() - begin


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
