"""Figures: what each is called, what it must reach, and whether it does."""

from dataclasses import dataclass
from enum import Enum

INFINITY = float("inf")


class Verdict(Enum):
    """Where a figure lies."""

    GOAL = "goal"
    MET = "met"
    SHORT = "short"  # of a goal, where nothing is asked at least
    MISSED = "missed"
    NONE = "none"  # nothing is asked, or nothing was measured


@dataclass(frozen=True)
class Range:
    """Values that are good enough, both ends included."""

    low: float = -INFINITY
    high: float = INFINITY

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def text(self, unit: str) -> str:
        """`0.7 to 1.4`, `>= 0.42` or `<= 1 %`."""
        if self.low == -INFINITY:
            return f"<= {self.high:g}{unit}"
        if self.high == INFINITY:
            return f">= {self.low:g}{unit}"
        return f"{self.low:g} to {self.high:g}{unit}"

    def words(self, unit: str) -> str:
        """`0.7 to 1.4`, `at least 0.42` or `at most 1 %`."""
        return self.text(unit).replace("<=", "at most").replace(">=", "at least")


@dataclass(frozen=True)
class Definition:
    """A figure before it is measured.

    Attributes:
        key: Its name in JSON.
        title: What is measured.
        unit: Written after the value, with its space.
        digits: After the point.
        at_least: What it must reach, or None where nothing is asked.
        goal: What is aimed at, or None.
        alone: The title where no row above begins it; empty where that is the same.
    """

    key: str
    title: str
    unit: str = ""
    digits: int = 2
    at_least: Range | None = None
    goal: Range | None = None
    alone: str = ""

    @property
    def name(self) -> str:
        """What is measured, in a sentence."""
        return self.alone or self.title

    def shown(self, value: float | None) -> str:
        """A value with this figure's digits and unit."""
        return "-" if value is None else f"{value:.{self.digits}f}{self.unit}"

    def shown_range(self, bound: Range | None) -> str:
        """A bound with this figure's unit; nothing for None."""
        return bound.text(self.unit) if bound else ""

    def told_range(self, bound: Range) -> str:
        """A bound in words."""
        return bound.words(self.unit)

    def verdict(self, value: float | None) -> Verdict:
        """Whether a value, rounded as it is shown, reaches the bounds."""
        if value is None or (self.at_least is None and self.goal is None):
            return Verdict.NONE
        rounded = round(value, self.digits)
        if self.goal is not None and rounded in self.goal:
            return Verdict.GOAL
        if self.at_least is None:
            return Verdict.SHORT
        return Verdict.MET if rounded in self.at_least else Verdict.MISSED


@dataclass(frozen=True)
class Measured:
    """What was measured.

    Attributes:
        value: None where it could not be measured.
        note: How to read it, or why there is none.
        judged: Whether there was enough to judge by; else the value is shown and nothing is asked of it.
    """

    value: float | None
    note: str = ""
    judged: bool = True


@dataclass(frozen=True)
class Figure:
    """One row of the table: of the rendered video, and of the real person's recording measured alike."""

    definition: Definition
    measured: Measured
    real: float | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether the rendered video reaches what is asked."""
        return self.definition.verdict(self.measured.value)
