"""A figure of the benchmark with its bounds, and how it is shown."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Bounds:
    """What a figure must reach, as shown in the table: `30`, `< 5 s`."""

    at_least: str
    goal: str


@dataclass(frozen=True)
class Figure:
    """One row of the table.

    Attributes:
        title: What was measured.
        bounds: What it must reach; empty strings where nothing was asked for.
        unit: Written after the value.
        digits: After the point.
        values: One for each run; the row shows their median. Empty where it was not measured.
        note: How to read it, or why it was not measured.
    """

    title: str
    bounds: Bounds
    unit: str
    digits: int
    values: tuple[float, ...]
    note: str = ""

    @property
    def value(self) -> float:
        """The median of all runs."""
        return statistics.median(self.values)

    def measured(self) -> str:
        """The median with its unit and, for several runs, the range."""
        if not self.values:
            return "not measured"
        text = f"{self.value:.{self.digits}f}{self.unit}"
        if len(self.values) == 1:
            return text
        return f"{text} ({min(self.values):.{self.digits}f} to {max(self.values):.{self.digits}f})"


@dataclass(frozen=True)
class Detail:
    """A further table that belongs to a figure."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Measurement:
    """What one part of the benchmark found."""

    figures: tuple[Figure, ...]
    details: tuple[Detail, ...] = ()


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, without a newline at its end."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def figures_table(figures: Sequence[Figure]) -> str:
    """The benchmark's main table."""
    rows = [
        (figure.title, figure.bounds.at_least, figure.bounds.goal, figure.measured(), figure.note)
        for figure in figures
    ]
    return markdown_table(("figure", "at least", "goal", "measured", "remarks"), rows)


def detail_section(detail: Detail) -> str:
    """A heading, a table and a remark."""
    parts = [f"### {detail.title}", markdown_table(detail.header, detail.rows)]
    return "\n\n".join([*parts, detail.note] if detail.note else parts)
