import xml.etree.ElementTree as ElementTree

from avatar_cli.evaluation.benchmark.length import COST_TABLE, LONG_LENGTHS, Cost, _memory, _table
from avatar_cli.evaluation.benchmark.plot import plot_cost

MB = 2**20


def cost(seconds, *megabytes):
    return Cost(seconds, seconds / 2, seconds / 1.25, tuple(int(value * MB) for value in megabytes))


def test_memory_is_the_peak_of_the_longest_against_the_median_peak_of_the_shortest():
    shortest = [cost(10, 400, 500), cost(10, 510, 300), cost(10, 700)]
    longest = cost(600, *[512] * 20, 530, *[515] * 20)

    figure = _memory(shortest, longest)

    assert figure.title == "peak memory, 10 min against 10 s of speech"
    assert (figure.bounds.at_least, figure.bounds.goal) == ("+40 MB", "+10 MB")
    assert figure.values == (20.0,)
    assert "530 MB against 510 MB" in figure.note
    assert "against its second: +3.0 MB" in figure.note


def test_a_run_without_the_long_lengths_claims_nothing_about_ten_minutes():
    figure = _memory([cost(10, 500)], cost(60, 500, 503))

    assert "60 s against 10 s" in figure.title
    assert figure.bounds.at_least == ""


def test_the_table_has_a_row_for_each_length_and_the_plot_shows_them(tmp_path):
    table = _table([cost(10, 500), cost(60, 505), cost(LONG_LENGTHS[-1], 508)])
    assert table.title == COST_TABLE
    assert table.rows[1] == ("60 s", "30.0", "48.0", "505", "0.50")

    plot_cost(table, tmp_path / "cost.svg")

    again = tmp_path / "again.svg"
    plot_cost(table, again)
    assert again.read_bytes() == (tmp_path / "cost.svg").read_bytes()
    root = ElementTree.parse(again).getroot()
    assert root.tag.endswith("svg")
    assert len(root.findall(".//{http://www.w3.org/2000/svg}path")) > 20
