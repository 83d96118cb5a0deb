import dataclasses
import gc
import time
import weakref
from pathlib import Path

import pytest
import torch
from checked_copies import CheckedCopies
from tiny_network import TinyNetwork, tiny_module, write_tiny_checkpoint
from torch import Tensor

from avatar_cli.protocol.events import Event, Interval
from avatar_cli.runtime.residency import CopyEngine, Keep, PlainResidency, Residency, resident
from avatar_cli.runtime.residency.host_copies import HostCopies
from avatar_cli.runtime.residency.streamed import StreamedResidency

TIME = torch.tensor(0.3)
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def inference():
    with torch.no_grad():
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_tiny_checkpoint(tmp_path / "first.safetensors", seed=1)
    write_tiny_checkpoint(tmp_path / "second.safetensors", seed=2)
    return tmp_path


def streamed(
    folder: Path, name: str, engine: CopyEngine, keep: Keep = Keep.STREAM, **options: object
) -> StreamedResidency[TinyNetwork]:
    """A residency whose blocks tell a checking engine when they compute."""
    residency = StreamedResidency(
        tiny_module(folder / f"{name}.safetensors", name=name, **options), engine, lambda event: None, keep
    )
    if isinstance(engine, CheckedCopies):
        for index, block in enumerate(residency.network.blocks):
            block.norm.register_forward_pre_hook(
                lambda module, args, name=f"{name}.{index}", block=block: engine.computed(
                    block.gate.untyped_storage().data_ptr(), name
                )
            )
    return residency


def plain(folder: Path, name: str, **options: object) -> PlainResidency[TinyNetwork]:
    return PlainResidency(
        tiny_module(folder / f"{name}.safetensors", name=name, **options), CPU, lambda event: None
    )


def turns(first: Residency, second: Residency, prefetch: bool) -> list[Tensor]:
    """Three chunks of two networks: a prefill and two steps of the first one, one step of the second one."""
    x = torch.randn(1, 7, 5, generator=torch.Generator().manual_seed(5))
    outputs: list[Tensor] = []
    for chunk in range(3):
        with resident(first) as (network,):
            outputs += [network.prefill(x), network(x + chunk, TIME)]
            if prefetch:
                first.prefetch(second)
            outputs.append(network(x - chunk, TIME))
        with resident(second) as (network,):
            if prefetch:
                second.prefetch(first)
            outputs.append(network(outputs[-1], TIME))
    return outputs


@pytest.mark.parametrize("prefetch", [True, False])
@pytest.mark.parametrize("keep", [Keep.STREAM, Keep.HOLD])
def test_outputs_are_bit_for_bit_those_of_the_plain_network(folder: Path, keep: Keep, prefetch: bool):
    engine = CheckedCopies()
    residencies = [streamed(folder, name, engine, keep) for name in ("first", "second")]
    outputs = turns(*residencies, prefetch)
    expected = turns(plain(folder, "first"), plain(folder, "second"), prefetch)
    assert all(torch.equal(output, other) for output, other in zip(outputs, expected, strict=True))
    for residency in residencies:
        residency.close()
    assert engine.live == 0
    assert "given back under a copy" not in engine.order


def test_a_slow_copy_is_waited_for(folder: Path):
    class Slow(HostCopies):
        def _copy(self, host: Tensor, target: Tensor, name: str) -> None:
            time.sleep(0.005)
            super()._copy(host, target, name)

    engine = Slow()
    outputs = turns(streamed(folder, "first", engine), streamed(folder, "second", engine), prefetch=True)
    expected = turns(plain(folder, "first"), plain(folder, "second"), prefetch=True)
    assert all(torch.equal(output, other) for output, other in zip(outputs, expected, strict=True))


def test_each_block_is_copied_under_the_one_before_and_the_next_network_under_the_last_block(folder: Path):
    engine = CheckedCopies()
    first, second = streamed(folder, "first", engine), streamed(folder, "second", engine)
    x = torch.randn(1, 7, 5)
    with resident(first) as (network,):
        network(x, TIME)
        first.prefetch(second)
        network(x, TIME)
    with resident(second) as (network,):
        network(x, TIME)
    step = ["copy first.1", "forward first.0", "copy first.2", "forward first.1"]
    following = ["copy second.root", "copy second.0", "forward first.2"]
    last = ["copy second.1", "forward second.0", "copy second.2", "forward second.1"]
    assert engine.order == [
        *("copy first.root", "copy first.0"),
        *(*step, "copy first.0", "forward first.2"),
        *(*step, *following),
        *(*last, "copy second.0", "forward second.2"),
    ]


def test_holding_copies_once_a_visit(folder: Path):
    engine = CheckedCopies()
    first = streamed(folder, "first", engine, Keep.HOLD)
    with resident(first) as (network,):
        for _ in range(3):
            network(torch.randn(1, 7, 5), TIME)
    copies = [entry for entry in engine.order if entry.startswith("copy")]
    assert copies == ["copy first.root", "copy first.0", "copy first.1", "copy first.2"]


def test_streaming_needs_root_and_two_blocks_and_leaving_gives_all_back(folder: Path):
    engine = CheckedCopies()
    first = streamed(folder, "first", engine)
    root, block = first._root.nbytes, first._blocks[0].nbytes
    for _ in range(2):
        with resident(first) as (network,):
            network(torch.randn(1, 7, 5), TIME)
        assert engine.live == 0
    assert engine.peak == root + 2 * block


def test_outside_of_a_forward_blocks_have_no_memory(folder: Path):
    first = streamed(folder, "first", HostCopies())
    assert all(parameter.is_meta for parameter in first.network.parameters())
    with resident(first) as (network,):
        network(torch.randn(1, 7, 5), TIME)
        assert all(parameter.is_meta for parameter in network.blocks.parameters())
        assert not network.head.weight.is_meta
    assert all(parameter.is_meta for parameter in first.network.parameters())
    with pytest.raises(NotImplementedError, match="meta"):
        first.network.head.weight.tolist()


def test_a_forward_that_fails_leaves_the_network_usable(folder: Path):
    engine = CheckedCopies()
    first = streamed(folder, "first", engine)
    x = torch.randn(1, 7, 5)
    with pytest.raises(RuntimeError), resident(first) as (network,):
        network.blocks[0](torch.randn(1, 7, 3))
    assert engine.live == 0
    with resident(first) as (network,):
        assert torch.equal(network(x, TIME), plain(folder, "first").network(x, TIME))


def test_parameters_of_two_dtypes_travel_together(folder: Path):
    options = {"dtype": torch.bfloat16, "float32": ("norm", "gate")}
    other = plain(folder, "first", **options).network
    assert other.blocks[0].norm.weight.dtype == torch.float32
    assert other.blocks[0].up.weight.dtype == other.head.weight.dtype == torch.bfloat16
    x = torch.randn(1, 7, 5)
    with resident(streamed(folder, "first", CheckedCopies(), **options)) as (network,):
        assert torch.equal(network(x, TIME), other(x, TIME))


@pytest.mark.parametrize("depth", [0, 1])
def test_networks_of_one_block_or_none_come_and_go_too(folder: Path, depth: int):
    engine = CheckedCopies()
    module = tiny_module(folder / "first.safetensors", name="first")
    short = dataclasses.replace(module, blocks=lambda network: list(network.blocks)[:depth])
    first = StreamedResidency(short, engine, lambda event: None, Keep.STREAM)
    second = streamed(folder, "second", engine)
    x = torch.randn(1, 7, 5)
    with resident(first) as (network,):
        first.prefetch(second)
        assert torch.equal(network(x, TIME), plain(folder, "first").network(x, TIME))
    first_part = ["copy first.root", "copy first.0"][: depth + 1]
    assert engine.order == [*first_part, "copy second.root", "copy second.0"]
    second.close()
    assert engine.live == 0


def test_closing_drops_the_weights_on_the_host(folder: Path):
    first = streamed(folder, "first", HostCopies())
    host = weakref.ref(first._host["first.0"])
    network = weakref.ref(first.network)
    with resident(first):
        pass
    first.close()
    gc.collect()
    assert host() is None
    assert network() is None


def test_entering_copying_and_leaving_are_events(folder: Path):
    events: list[Event] = []
    engine = HostCopies(events.append, rank=3)
    first = StreamedResidency(
        tiny_module(folder / "first.safetensors", name="first"), engine, events.append, Keep.STREAM, 3, True
    )
    with resident(first) as (network,):
        network(torch.randn(1, 7, 5), TIME)
    engine.flush()
    intervals = [event for event in events if isinstance(event, Interval)]
    names = [event.name for event in sorted(intervals, key=lambda event: event.begin)]
    assert names[:2] == ["load first", "enter first"]
    assert {event.rank for event in intervals} == {3}
    for name in ("copy first.root", "copy first.0", "forward first.0", "forward first.2", "leave first"):
        assert name in names
    copies = {event.name: event for event in intervals}
    assert copies["copy first.2"].end <= copies["forward first.2"].end


def test_nothing_grows_from_visit_to_visit(folder: Path):
    engine = HostCopies()
    first, second = streamed(folder, "first", engine), streamed(folder, "second", engine, Keep.HOLD)

    def objects_after(visits: int) -> int:
        for _ in range(visits):
            with resident(first) as (network,):
                first.prefetch(second)
                network(torch.zeros(1, 7, 5), TIME)
            with resident(second) as (network,):
                second.prefetch(first)
                network(torch.zeros(1, 7, 5), TIME)
        engine.flush()
        gc.collect()
        return len(gc.get_objects())

    before = objects_after(10)
    assert objects_after(50) - before < 20
