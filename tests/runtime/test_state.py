from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from avatar_cli.protocol.errors import InputError, RenderFailure
from avatar_cli.runtime.state import RollingState

DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool]


def tensor_of(dtype: torch.dtype, size: int) -> torch.Tensor:
    bits = torch.randint(0, 256, (size * torch.empty(0, dtype=dtype).element_size(),), dtype=torch.uint8)
    return (bits % 2).bool() if dtype is torch.bool else bits.view(dtype)


def bits_of(tensor: torch.Tensor) -> bytes:
    return tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def assert_same_bits(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        assert (tensor.dtype, tensor.shape) == (other[name].dtype, other[name].shape)
        assert bits_of(tensor) == bits_of(other[name])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(
    st.integers(0, 2**63 - 1),
    st.integers(0, 10**9),
    st.dictionaries(st.text(min_size=1, max_size=5), st.tuples(st.sampled_from(DTYPES), st.integers(0, 9))),
)
def test_a_saved_state_comes_back_bit_for_bit(tmp_path: Path, seed: int, count: int, sizes: dict):
    tensors = {name: tensor_of(*size) for name, size in sizes.items()}
    state = RollingState(seed, count, {"a2v": tensors, "decode": tensors}, tensors, next_frame=count + 1)
    state.save(tmp_path / "state.safetensors")
    again = RollingState.load(tmp_path / "state.safetensors")
    assert (again.seed, again.next_chunk, again.next_frame) == (seed, count, count + 1)
    assert_same_bits(state.reference, again.reference)
    assert set(again.stages) == ({"a2v", "decode"} if tensors else set())
    for name, kept in again.stages.items():
        assert_same_bits(state.stages[name], kept)


def test_views_and_shared_tensors_can_be_saved(tmp_path: Path):
    chunk = torch.randn(48, 21)
    state = RollingState(1, 2, {"a2v": {"later": chunk[-6:], "column": chunk[:, 3], "turned": chunk.T}})
    state.save(tmp_path / "state.safetensors")
    assert_same_bits(RollingState.load(tmp_path / "state.safetensors").stages["a2v"], state.stages["a2v"])


def test_size_counts_all_that_a_view_keeps_alive_and_shared_memory_once():
    chunk = torch.zeros(48, 21)
    assert RollingState(0, 0, {"a2v": {"later": chunk[-6:].clone()}}).nbytes == 6 * 21 * 4
    assert RollingState(0, 0, {"a2v": {"later": chunk[-6:], "head": chunk[:6]}}).nbytes == 48 * 21 * 4


def test_a_state_that_outgrows_its_declared_size_is_an_error():
    state = RollingState(0, 0, {"a2v": {"later": torch.zeros(10)}})
    state.require_within(40)
    with pytest.raises(RenderFailure, match=r"has grown to 40 bytes.* at most 39"):
        state.require_within(39)


def test_a_new_state_replaces_the_old_one_whole(tmp_path: Path):
    path = tmp_path / "state.safetensors"
    for chunk in range(3):
        RollingState(1, chunk).save(path)
        assert RollingState.load(path).next_chunk == chunk
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("content", [None, b"", b"garbage" * 10])
def test_what_is_not_a_state_is_refused_by_name(tmp_path: Path, content: bytes | None):
    path = tmp_path / "state.safetensors"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"state\.safetensors is not the saved state of a render"):
        RollingState.load(path)


def test_a_checkpoint_is_not_a_state(tmp_path: Path):
    from safetensors.torch import save_file

    path = tmp_path / "weights.safetensors"
    save_file({"weight": torch.zeros(3)}, path)
    with pytest.raises(InputError, match="is not the saved state"):
        RollingState.load(path)
