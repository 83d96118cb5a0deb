"""The figures in a terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from avatar_cli.evaluation.quality.figures import Figure, Verdict

_STYLES = {
    Verdict.GOAL: "green",
    Verdict.MET: "yellow",
    Verdict.SHORT: "yellow",
    Verdict.MISSED: "red",
    Verdict.NONE: "",
}
_NOT_JUDGED = "not judged"
_WIDTH_FOR_REMARKS = 130  # columns


def print_table(figures: Sequence[Figure], with_real: bool, console: Console) -> None:
    """Green reaches its goal, yellow what is asked at least, red misses it; without colours words say so.

    Remarks need a wide terminal.
    """
    remarks = console.width >= _WIDTH_FOR_REMARKS
    words = console.color_system is None or console.no_color
    table = Table(box=None, padding=(0, 2, 0, 0))
    columns = (
        *("figure", "video"),
        *(["verdict"] if words else []),
        *(["real person"] if with_real else []),
        *("at least", "goal"),
    )
    for heading in columns:
        table.add_column(heading, no_wrap=True)
    if remarks:
        table.add_column("remarks")
    for figure in figures:
        definition = figure.definition
        table.add_row(
            definition.title,
            Text(definition.shown(figure.measured.value), _STYLES[figure.verdict]),
            *([_word(figure)] if words else []),
            *([definition.shown(figure.real)] if with_real else []),
            definition.shown_range(definition.at_least),
            definition.shown_range(definition.goal),
            *([figure.measured.note] if remarks else []),
        )
    console.print(table)


def _word(figure: Figure) -> str:
    if figure.verdict is not Verdict.NONE:
        return figure.verdict.value
    return "" if figure.measured.judged or figure.measured.value is None else _NOT_JUDGED
