from pathlib import Path

import pytest
import torch
from tiny_network import tiny_module, write_tiny_checkpoint

from avatar_cli.protocol.errors import EnvironmentProblem
from avatar_cli.runtime.residency import Keep, Placement, PlainResidency, Use, place
from avatar_cli.runtime.residency.host_copies import HostCopies
from avatar_cli.runtime.residency.streamed import StreamedResidency

CPU = torch.device("cpu")


@pytest.fixture
def uses(tmp_path: Path) -> tuple[Use, ...]:
    for name in ("encoder", "a2v", "sr"):
        write_tiny_checkpoint(tmp_path / f"{name}.safetensors")
    modules = [tiny_module(tmp_path / f"{name}.safetensors", name=name) for name in ("encoder", "a2v", "sr")]
    return Use(modules[0], whole=True), Use(modules[1], calls=4, working_bytes=5000), Use(modules[2])


def ignore(event: object) -> None:
    pass


def test_on_a_cpu_every_network_is_plain_in_the_order_asked_for(uses: tuple[Use, ...]):
    residencies = place(uses, Placement(CPU), ignore)
    assert [residency.name for residency in residencies] == ["encoder", "a2v", "sr"]
    assert {type(residency) for residency in residencies} == {PlainResidency}


def test_with_copies_networks_are_streamed_unless_they_stay_whole_or_resident(uses: tuple[Use, ...]):
    def types(keep: Keep) -> list[type]:
        return [type(one) for one in place(uses, Placement(CPU, keep=keep, engine=HostCopies()), ignore)]

    assert types(Keep.STREAM) == types(Keep.HOLD) == [PlainResidency, StreamedResidency, StreamedResidency]
    assert types(Keep.RESIDENT) == [PlainResidency] * 3


def test_the_budget_decides_and_whole_networks_count_first(uses: tuple[Use, ...]):
    memory = uses[1].memory()
    assert memory.calls == 4
    assert memory.working == 5000
    assert memory.weights == sum(parameter.nbytes for parameter in uses[1].module.on_meta().parameters())
    everything = 3 * memory.weights + memory.working

    def types(budget: int) -> list[type]:
        return [type(one) for one in place(uses, Placement(CPU, budget=budget, engine=HostCopies()), ignore)]

    assert types(everything) == [PlainResidency] * 3
    assert types(everything - 1) == [PlainResidency, PlainResidency, StreamedResidency]
    with pytest.raises(EnvironmentProblem, match="network a2v needs"):
        types(memory.weights + memory.working)
