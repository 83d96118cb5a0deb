"""Events of single blocks, by hooks from outside the network: for traces and for the golden schedule.

On a GPU the times are those at which the host queued the work; the profiler, which sees the same names, has
those of the device.
"""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn

from avatar_cli.protocol.events import EventSink, Interval, now
from avatar_cli.runtime.recorder import interval

if TYPE_CHECKING:
    from torch.distributed import Work
    from torch.distributed.fsdp import FSDPModule
    from torch.distributed.fsdp._fully_shard._fsdp_api import AllGather


def trace_forwards(name: str, blocks: Sequence[nn.Module], emit: EventSink, rank: int) -> None:
    """Emit an Interval `forward NAME.INDEX` for every forward of a block.

    It spans what other hooks do before and after: call this after they are registered.
    """
    for index, block in enumerate(blocks):
        trace = _ForwardTrace(f"forward {name}.{index}", emit, rank)
        block.register_forward_pre_hook(trace.begin, prepend=True)
        block.register_forward_hook(trace.end)


def trace_gathers(name: str, chain: "Sequence[FSDPModule]", emit: EventSink, rank: int) -> None:
    """Emit an Interval `gather NAME.root` or `gather NAME.INDEX` where FSDP queues an all-gather."""
    for part, key in zip(chain, ["root", *map(str, range(len(chain) - 1))], strict=True):
        (group,) = part._get_fsdp_state()._fsdp_param_groups
        traced = _TracedAllGather(group._all_gather_comm, f"gather {name}.{key}", emit, rank)
        part.set_custom_all_gather(cast("AllGather", traced))


class _ForwardTrace:
    def __init__(self, label: str, emit: EventSink, rank: int) -> None:
        self._label = label
        self._emit = emit
        self._rank = rank
        self._begin = 0.0
        self._range: Any = None

    def begin(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        self._begin = now()
        self._range = torch.profiler.record_function(self._label)
        self._range.__enter__()

    def end(self, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        self._range.__exit__(None, None, None)
        thread = threading.current_thread().name
        self._emit(Interval(self._label, self._begin, now(), self._rank, thread))


class _TracedAllGather:
    """The all-gather that FSDP would use, with an event."""

    def __init__(self, inner: "AllGather", label: str, emit: EventSink, rank: int) -> None:
        self._inner = inner
        self._label = label
        self._emit = emit
        self._rank = rank

    def allocate(self, size: Sequence[int], *, dtype: torch.dtype, device: torch.device) -> Tensor:
        """Memory for the full parameters of one block."""
        return self._inner.allocate(size, dtype=dtype, device=device)

    def __call__(self, *args: Any, **kwargs: Any) -> "Work | None":
        """Queue the all-gather on the current stream."""
        with interval(self._emit, self._label, rank=self._rank), torch.profiler.record_function(self._label):
            return self._inner(*args, **kwargs)
