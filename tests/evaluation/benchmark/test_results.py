import pytest

from avatar_cli.evaluation.benchmark.figures import Bounds, Detail, Figure, Measurement, markdown_table
from avatar_cli.evaluation.benchmark.machine import this_machine
from avatar_cli.evaluation.benchmark.results import Result, brief_text, from_json, full_text, to_json

SPEED = Figure("frames/s", Bounds("30", "60"), "", 1, (41.0, 45.25, 39.0), "thirty seconds")
WHEEL = Figure("wheel", Bounds("40 MB", "20 MB"), " MB", 1, (12.34,))
MISSING = Figure("mouth", Bounds("0.35", "0.45"), "", 2, (), "needs a folder")
WATERFALL = Detail(
    "Until the first frame", ("work", "seconds"), (("load", "0.50"), ("N0", "0.10")), "Median run."
)


@pytest.fixture
def results():
    machine = this_machine()
    return {
        "speed": Result(Measurement((SPEED, MISSING), (WATERFALL,)), machine, 3),
        "wheel": Result(Measurement((WHEEL,)), machine, 3),
    }


def test_a_figure_shows_the_median_and_the_range_of_its_runs():
    assert SPEED.measured() == "41.0 (39.0 to 45.2)"
    assert WHEEL.measured() == "12.3 MB"
    assert MISSING.measured() == "not measured"


def test_a_table_has_a_row_a_line():
    assert markdown_table(("a", "b"), [("1", "2")]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_the_main_table_names_the_bounds_the_reasons_and_the_machine(results):
    text = brief_text(results)

    assert "| frames/s | 30 | 60 | 41.0 (39.0 to 45.2) | thirty seconds |" in text
    assert "| mouth | 0.35 | 0.45 | not measured | needs a folder |" in text
    machine = results["speed"].machine
    assert text.count(machine.processor) == 1
    assert machine.date in text
    assert "torch 2." in text
    assert "### " not in text


def test_further_tables_follow_the_main_one(results):
    text = full_text(results)

    assert text.startswith(brief_text(results))
    table = markdown_table(WATERFALL.header, WATERFALL.rows)
    assert text.endswith(f"### Until the first frame\n\n{table}\n\nMedian run.")


def test_results_survive_json(results):
    assert from_json(to_json(results)) == results
