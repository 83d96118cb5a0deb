"""Switches between networks: how long the next one takes to have answered, and what of it is the switch."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from avatar_cli.evaluation.runtime_bench.clock import Clock
from avatar_cli.evaluation.runtime_bench.intervals import middle
from avatar_cli.evaluation.runtime_bench.watched import Call

Pair = tuple[str, str]  # outgoing and incoming network


@dataclass(frozen=True)
class Switch:
    """From the end of the last call of a network to the end of the first call of the next; medians, seconds.

    `resident_seconds` is the same in a run where all networks stay on the device.
    """

    outgoing: str
    incoming: str
    seconds: float
    resident_seconds: float
    count: int

    @property
    def visible_seconds(self) -> float:
        """What the switch adds; noise may make it negative."""
        return self.seconds - self.resident_seconds


def switch_times(calls: Sequence[Call], clock: Clock) -> dict[Pair, list[float]]:
    """Every switch of a run, seconds, without the first of each kind, which still fills caches."""
    times: dict[Pair, list[float]] = {}
    for before, after in pairwise(calls):
        if before.network != after.network:
            pair = (before.network, after.network)
            times.setdefault(pair, []).append(clock.seconds(before.end, after.end))
    return {pair: values[1:] for pair, values in times.items() if len(values) > 1}


def compared(switching: dict[Pair, list[float]], resident: dict[Pair, list[float]]) -> tuple[Switch, ...]:
    """The switches that both runs have."""
    found = []
    for pair, values in switching.items():
        own, other = middle(values), middle(resident.get(pair, []))
        if own is not None and other is not None:
            found.append(Switch(*pair, own, other, len(values)))
    return tuple(found)


def chunk_times(calls: Sequence[Call], last_network: str, clock: Clock) -> list[float]:
    """Seconds from chunk to chunk, told by the ends of the last network of each; without the first."""
    ends = [call.end for call in calls if call.network == last_network]
    return [clock.seconds(before, after) for before, after in pairwise(ends)][1:]
