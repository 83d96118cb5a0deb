import io

from rich.console import Console

from avatar_cli.evaluation.quality.figures import Definition, Figure, Measured, Range
from avatar_cli.evaluation.quality.table import print_table

ASKED = Definition("x", "lips", "", 1, Range(low=0.5), Range(low=0.9))
FIGURES = [
    Figure(ASKED, Measured(0.9)),
    Figure(ASKED, Measured(0.6)),
    Figure(ASKED, Measured(0.2)),
    Figure(Definition("y", "teeth", "", 1, goal=Range(low=0.9)), Measured(0.3)),
    Figure(Definition("z", "skin", "", 1), Measured(0.4, judged=False)),
    Figure(Definition("z", "hair", "", 1), Measured(0.5)),
]


def printed(**options):
    stream = io.StringIO()
    print_table(FIGURES, False, Console(file=stream, width=180, highlight=False, **options))
    return stream.getvalue()


def test_without_colours_every_verdict_is_a_word():
    heading, *rows = printed().splitlines()

    assert heading.split()[:3] == ["figure", "video", "verdict"]
    words = [row[len("figure  video  ") : len("figure  video  not judged  ")].strip() for row in rows]
    assert words == ["goal", "met", "missed", "short", "not judged", ""]


def test_a_terminal_without_colours_gets_the_words_too():
    assert "missed" in printed(force_terminal=True, color_system="standard", no_color=True)


def test_colours_need_no_words():
    coloured = printed(force_terminal=True, color_system="standard")

    assert "\x1b[31m0.2" in coloured
    assert "missed" not in coloured
    assert "verdict" not in coloured
