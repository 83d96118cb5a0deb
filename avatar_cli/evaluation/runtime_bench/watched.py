"""Networks and blocks that are timed call by call, from outside."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from torch import nn

from avatar_cli.evaluation.runtime_bench.clock import Clock
from avatar_cli.protocol.events import EventSink, Interval, now
from avatar_cli.runtime.residency import Residency


@dataclass(frozen=True)
class Call:
    """One call of a network, with the clock's marks before and after it."""

    network: str
    begin: Any
    end: Any


class Watched:
    """A residency that adds every call of its network to `calls`."""

    def __init__(self, inner: Residency, clock: Clock, calls: list[Call]) -> None:
        self.name = inner.name
        self._inner = inner
        self._clock = clock
        self._calls = calls

    @property
    def network(self) -> Any:
        """The network, to be called and asked as it is."""
        return _WatchedNetwork(self.name, self._inner.network, self._clock, self._calls)

    def bring_in(self) -> None:
        """As the residency does."""
        self._inner.bring_in()

    def enter(self) -> None:
        """As the residency does."""
        self._inner.enter()

    def prefetch(self, following: Residency) -> None:
        """As the residency does; residencies know each other by what they are."""
        self._inner.prefetch(following._inner if isinstance(following, Watched) else following)

    def leave(self) -> None:
        """As the residency does."""
        self._inner.leave()

    def close(self) -> None:
        """As the residency does."""
        self._inner.close()


class _WatchedNetwork:
    def __init__(self, name: str, network: Any, clock: Clock, calls: list[Call]) -> None:
        self._name = name
        self._network = network
        self._clock = clock
        self._calls = calls

    def __call__(self, *args: Any) -> Any:
        begin = self._clock.mark()
        output = self._network(*args)
        self._calls.append(Call(self._name, begin, self._clock.mark()))
        return output

    def __getattr__(self, name: str) -> Any:
        return getattr(self._network, name)


def watch_blocks(name: str, blocks: Iterable[nn.Module], emit: EventSink, rank: int) -> None:
    """Emit an Interval `compute NAME.INDEX` for every forward of a block, on the host's clock.

    Unlike the runtime's own `forward NAME.INDEX` it leaves out what hooks registered so far do, such as
    waiting for weights.
    """
    for index, block in enumerate(blocks):
        watch = _BlockWatch(f"compute {name}.{index}", emit, rank)
        block.register_forward_pre_hook(watch.begin)
        block.register_forward_hook(watch.end, prepend=True)


class _BlockWatch:
    def __init__(self, label: str, emit: EventSink, rank: int) -> None:
        self._label = label
        self._emit = emit
        self._rank = rank
        self._begin = 0.0

    def begin(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        self._begin = now()

    def end(self, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        thread = threading.current_thread().name
        self._emit(Interval(self._label, self._begin, now(), self._rank, thread))
