"""Random weights are the same wherever they are made: whole, in slices, in files."""

import json

import pytest
import torch

from avatar_cli.families.synthetic.modules import modules, write_modules
from avatar_cli.families.synthetic.random_weights import RandomTensor
from avatar_cli.protocol.errors import EnvironmentProblem
from avatar_cli.runtime.weights import load_whole

CPU = torch.device("cpu")


@pytest.mark.parametrize("shape", [(7,), (6, 5), (1100, 1000), (4, 3, 3, 2, 2), ()])
def test_a_slice_is_that_slice_of_the_whole(shape):
    tensor = RandomTensor("a.weight", shape, torch.float32)
    whole = tensor[...]
    assert whole.shape == shape
    if shape:
        assert torch.equal(tensor[2:5], whole[2:5])
        every = tuple(slice(1, size) for size in shape)
        assert torch.equal(tensor[every], whole[every])
        assert tensor[len(whole) : len(whole)].shape == (0, *shape[1:])


def test_weights_differ_from_row_to_row_and_name_to_name_and_keep_the_variance_of_inputs():
    one, other = (RandomTensor(name, (512, 4096), torch.float32)[...] for name in ("one", "other"))
    assert len(one.unique(dim=0)) == len(one)
    assert not torch.equal(one, other)
    outputs = torch.randn(64, 4096) @ one.T
    assert 0.9 < outputs.std() < 1.1


def test_written_shards_hold_what_is_made_in_place(tiny, tmp_path):
    write_modules(tiny, tmp_path, shard_bytes=300_000)
    for made, read in zip(modules(tiny).all(), modules(tiny, tmp_path).all(), strict=True):
        networks = []
        for module in (made, read):
            network = module.on_meta()
            load_whole(network, module.checkpoint, CPU)
            networks.append(network.state_dict())
        assert networks[0].keys() == networks[1].keys()
        for name, tensor in networks[0].items():
            assert torch.equal(networks[1][name], tensor), name
    index = json.loads((tmp_path / "a2v_dit" / "model.safetensors.index.json").read_text())
    files = set(index["weight_map"].values())
    assert len(files) > 5
    assert all((tmp_path / "a2v_dit" / file).stat().st_size < 400_000 for file in files)


def test_a_folder_without_a_network_is_told(tiny, tmp_path):
    with pytest.raises(EnvironmentProblem, match="a2v_dit"):
        modules(tiny, tmp_path).a2v.on_meta()
