"""What one call of a network needs, found without memory or time: the call runs on the meta device."""

import math
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode


@dataclass(frozen=True)
class MetaRun:
    """The most bytes that are alive at a time beside inputs and weights, and floating-point operations.

    A multiplication with an addition counts as two. Of attention only the output is counted as memory, as
    fused kernels need it; an eager kernel needs more.
    """

    peak_bytes: int
    flops: int


def meta_run(call: Callable[[], Any]) -> MetaRun:
    """Run `call`, all of whose tensors are on the meta device."""
    live = _LiveBytes()
    attention = _FusedAttention()
    products = FlopCounterMode(display=False)
    with torch.no_grad(), products, live, attention:
        call()
    return MetaRun(live.peak, products.get_total_flops() + attention.flops)


class _LiveBytes(TorchDispatchMode):
    """Counts storages from the operation that makes them until nobody holds them."""

    def __init__(self) -> None:
        super().__init__()
        self.peak = 0
        self._now = 0
        self._seen: set[int] = set()

    def __torch_dispatch__(
        self,
        func: Any,
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Called in place of every operation."""
        options = dict(kwargs or {})
        for tensor in _tensors((args, options)):
            self._note(tensor, nbytes=0)  # what is not made here is an input or a weight
        result = func(*args, **options)
        for tensor in _tensors(result):
            self._note(tensor, tensor.untyped_storage().nbytes())
        self.peak = max(self.peak, self._now)
        return result

    def _note(self, tensor: Tensor, nbytes: int) -> None:
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self._seen:
            return
        self._seen.add(key)
        self._now += nbytes
        weakref.finalize(storage, self._forget, key, nbytes)

    def _forget(self, key: int, nbytes: int) -> None:
        self._seen.discard(key)
        self._now -= nbytes


class _FusedAttention(TorchFunctionMode):
    """Attention of which only the output takes memory."""

    def __init__(self) -> None:
        super().__init__()
        self.flops = 0

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Called in place of every function of torch."""
        if func is not F.scaled_dot_product_attention:
            return func(*args, **(kwargs or {}))
        query, key = args[0], args[1]
        self.flops += 4 * math.prod(query.shape) * key.shape[-2]
        return torch.empty_like(query)


def _tensors(tree: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]
