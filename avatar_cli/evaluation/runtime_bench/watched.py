"""Residencies whose networks are timed call by call, from outside."""

from dataclasses import dataclass
from typing import Any

from avatar_cli.evaluation.runtime_bench.clock import Clock
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
