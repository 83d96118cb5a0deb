from pathlib import Path

import torch
from tiny_network import tiny_module, write_tiny_checkpoint

from avatar_cli.protocol.events import Event, Interval
from avatar_cli.runtime.residency import PlainResidency, Residency, resident

CPU = torch.device("cpu")


def test_the_network_computes_what_was_saved_and_stays(tmp_path: Path):
    original = write_tiny_checkpoint(tmp_path / "tiny.safetensors")
    events: list[Event] = []
    residency: Residency = PlainResidency(
        tiny_module(tmp_path / "tiny.safetensors"), CPU, events.append, rank=1
    )
    x, t = torch.randn(1, 7, 5), torch.tensor(0.3)
    for _ in range(2):
        with torch.no_grad(), resident(residency) as (network,):
            residency.prefetch(residency)
            assert torch.equal(network(x, t), original(x, t))
            assert torch.equal(network.prefill(x), original.prefill(x))
    names = [(event.name, event.rank) for event in events if isinstance(event, Interval)]
    assert names == [("load tiny", 1), *[("enter tiny", 1), ("leave tiny", 1)] * 2]


def test_residencies_are_left_when_the_work_fails(tmp_path: Path):
    write_tiny_checkpoint(tmp_path / "tiny.safetensors")
    events: list[Event] = []
    residency = PlainResidency(tiny_module(tmp_path / "tiny.safetensors"), CPU, events.append)
    try:
        with resident(residency):
            raise ValueError("bad")
    except ValueError:
        pass
    assert events[-1].name == "leave tiny"
