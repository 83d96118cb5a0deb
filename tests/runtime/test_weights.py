import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from tiny_network import CONFIG, build, random_network, tiny_module, write_tiny_checkpoint
from torch import nn

from avatar_cli.protocol.errors import EnvironmentProblem
from avatar_cli.runtime.module import Module
from avatar_cli.runtime.weights import Checkpoint, load_whole, save_checkpoint

CPU = torch.device("cpu")


def loaded(path: Path) -> nn.Module:
    network = tiny_module(path).on_meta()
    load_whole(network, Checkpoint(path), CPU)
    return network


def rewritten(path: Path, changes: dict[str, torch.Tensor | None]) -> Path:
    """The tiny checkpoint with some tensors replaced, or removed where the new one is None."""
    tensors = {**random_network().state_dict(), **changes}
    save_checkpoint(path, {name: tensor for name, tensor in tensors.items() if tensor is not None}, CONFIG)
    return path


def test_a_saved_network_comes_back_bit_for_bit_with_its_configuration(tmp_path: Path):
    path = tmp_path / "tiny.safetensors"
    network = write_tiny_checkpoint(path)
    assert Checkpoint(path).config() == CONFIG
    again = loaded(path)
    assert again.state_dict().keys() == network.state_dict().keys()
    for name, tensor in network.state_dict().items():
        assert torch.equal(again.state_dict()[name], tensor)
    x, t = torch.randn(1, 7, 5), torch.tensor(0.3)
    assert torch.equal(again(x, t), network(x, t))
    assert not any(parameter.requires_grad for parameter in again.parameters())
    assert not again.training


def test_saving_leaves_nothing_beside_the_checkpoint(tmp_path: Path):
    write_tiny_checkpoint(tmp_path / "tiny.safetensors")
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.safetensors"]


def test_tensors_are_aligned_copies_that_outlive_the_file(tmp_path: Path):
    path = tmp_path / "tiny.safetensors"
    network = write_tiny_checkpoint(path)
    again = loaded(path)
    path.write_bytes(bytes(path.stat().st_size))
    for name, tensor in again.state_dict().items():
        assert tensor.data_ptr() % 64 == 0
        assert torch.equal(tensor, network.state_dict()[name])


def test_the_module_decides_the_dtype(tmp_path: Path):
    path = tmp_path / "tiny.safetensors"
    write_tiny_checkpoint(path)
    network = tiny_module(path, dtype=torch.bfloat16).on_meta()
    load_whole(network, Checkpoint(path), CPU)
    assert {parameter.dtype for parameter in network.parameters()} == {torch.bfloat16}


def test_an_index_names_the_file_of_every_tensor(tmp_path: Path):
    network = random_network()
    names = sorted(network.state_dict())
    weight_map = {name: f"part-{number % 2}.safetensors" for number, name in enumerate(names)}
    for file in set(weight_map.values()):
        save_file(
            {name: network.state_dict()[name] for name in names if weight_map[name] == file}, tmp_path / file
        )
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": weight_map}))
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    again = loaded(index)
    for name, tensor in network.state_dict().items():
        assert torch.equal(again.state_dict()[name], tensor)
    (tmp_path / "part-1.safetensors").unlink()
    with pytest.raises(EnvironmentProblem, match=r"part-1\.safetensors do not exist"):
        loaded(index)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"head.bias": None}, "lacks tensor head.bias"),
        ({"head.bias": None, "embed.bias": None}, "lacks tensor embed.bias and 1 more"),
        ({"extra": torch.zeros(1)}, "has an unknown tensor extra"),
        ({"head.bias": torch.zeros(6)}, r"tensor head.bias in .* has the shape \[6\], .* needs \[5\]"),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_refused_by_name(tmp_path: Path, changes: dict, words: str):
    path = rewritten(tmp_path / "tiny.safetensors", changes)
    with pytest.raises(EnvironmentProblem, match=words) as caught:
        loaded(path)
    assert str(path) in caught.value.message


def test_missing_and_broken_files_are_named(tmp_path: Path):
    path = tmp_path / "tiny.safetensors"
    with pytest.raises(EnvironmentProblem, match=r"tiny\.safetensors do not exist"):
        loaded(path)
    write_tiny_checkpoint(path)
    whole = path.read_bytes()
    for broken in (b"", b"not safetensors at all", whole[:100], whole[:-20]):
        path.write_bytes(broken)
        with pytest.raises(EnvironmentProblem, match=r"tiny\.safetensors is not a readable safetensors file"):
            loaded(path)


def test_a_checkpoint_without_configuration_is_refused(tmp_path: Path):
    path = tmp_path / "tiny.safetensors"
    save_file(random_network().state_dict(), path)
    with pytest.raises(EnvironmentProblem, match=r"configuration of .* is missing"):
        Checkpoint(path).config()
    index = tmp_path / "model.safetensors.index.json"
    index.write_text("{}")
    with pytest.raises(EnvironmentProblem, match="is not an index"):
        Checkpoint(index).files()
    with pytest.raises(EnvironmentProblem, match=r"config\.json cannot be read"):
        Checkpoint(index).config()


def test_buffers_keep_the_values_and_dtypes_that_their_constructor_gave_them(tmp_path: Path):
    path = tmp_path / "tiny.safetensors"
    network = write_tiny_checkpoint(path)
    again = tiny_module(path, dtype=torch.bfloat16).on_meta()
    load_whole(again, Checkpoint(path), CPU)
    assert torch.equal(again.frequencies, network.frequencies)
    assert again.scale.dtype == torch.float32


def test_buffers_without_values_are_a_programming_error(tmp_path: Path):
    class Forgetful(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("table", torch.empty(4), persistent=False)

    path = tmp_path / "tiny.safetensors"
    save_checkpoint(path, {}, {})
    network = Module("forgetful", Checkpoint(path), lambda config: Forgetful(), lambda network: []).on_meta()
    with pytest.raises(RuntimeError, match="left buffer table of the network without values"):
        load_whole(network, Checkpoint(path), CPU)


def test_a_network_is_built_without_memory(tmp_path: Path):
    path = tmp_path / "tiny.safetensors"
    save_checkpoint(path, {}, {"width": 10_000, "depth": 1000, "channels": 5})  # 2.4 TB of parameters
    module = Module("huge", Checkpoint(path), build, lambda network: list(network.blocks))
    assert all(parameter.is_meta for parameter in module.on_meta().parameters())


def test_building_and_loading_import_no_symbolic_maths(tmp_path: Path):
    path = tmp_path / "tiny.safetensors"
    write_tiny_checkpoint(path)
    script = (
        "import sys, torch\n"
        "from pathlib import Path\n"
        "from tiny_network import tiny_module\n"
        "from avatar_cli.runtime.residency import PlainResidency\n"
        f"PlainResidency(tiny_module(Path({str(path)!r})), torch.device('cpu'), lambda event: None)\n"
        "print('sympy' in sys.modules, 'torch.distributed.fsdp' in sys.modules)\n"
    )
    folders = [Path(__file__).parents[2], Path(__file__).parent]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders))}
    result = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == ["False", "False"]
