"""Arithmetic on stretches of time: what lay under what, and where nothing was."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median

Stretch = tuple[float, float]  # begin and end, seconds


def merged(stretches: Iterable[Stretch]) -> list[Stretch]:
    """The same time, in order and without overlaps."""
    result: list[Stretch] = []
    for begin, end in sorted(stretches):
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((begin, end))
    return result


def total(stretches: Iterable[Stretch]) -> float:
    """Their sum, seconds."""
    return sum(end - begin for begin, end in stretches)


def share_under(covered: Sequence[Stretch], covering: Sequence[Stretch]) -> float | None:
    """Share 0..1 of the time of `covered` during which there is something of `covering`; None of nothing."""
    own, other = merged(covered), merged(covering)
    whole = total(own)
    if whole == 0:
        return None
    hidden = 0.0
    position = 0
    for begin, end in own:
        while position < len(other) and other[position][1] <= begin:
            position += 1
        for start, stop in other[position:]:
            if start >= end:
                break
            hidden += min(end, stop) - max(begin, start)
    return hidden / whole


def gaps(stretches: Iterable[Stretch]) -> list[float]:
    """Seconds between what follows each other without touching."""
    busy = merged(stretches)
    return [after[0] - before[1] for before, after in pairwise(busy)]


def middle(values: Iterable[float]) -> float | None:
    """The median; None of nothing."""
    known = list(values)
    return median(known) if known else None
