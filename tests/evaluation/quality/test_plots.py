from xml.etree import ElementTree

import numpy as np
import pytest

from avatar_cli.evaluation.quality.plots import HEIGHT, WIDTH, Line, Plot, draw


def drawn(plot, frames, level=None):
    return ElementTree.fromstring(draw(plot, level, frames, 25.0))


def points(figure, kind):
    text = next(line for line in figure.iter("polyline") if line.get("class") == kind).get("points")
    return np.array([[float(number) for number in pair.split(",")] for pair in text.split()])


def test_a_curve_rises_where_its_values_do():
    heights = points(drawn(Plot("opening", [Line("rendered", np.arange(100.0))]), range(100)), "rendered")

    assert len(heights) == 100
    assert np.all(np.diff(heights[:, 0]) > 0)
    assert heights[0, 1] > heights[-1, 1]
    assert heights.min() >= 0
    assert heights[:, 0].max() <= WIDTH
    assert heights[:, 1].max() <= HEIGHT


def test_rows_share_the_scale_of_the_whole():
    line = Line("rendered", np.concatenate([np.zeros(50), np.ones(50)]))

    first = points(drawn(Plot("opening", [line]), range(50)), "rendered")
    second = points(drawn(Plot("opening", [line]), range(50, 100)), "rendered")

    assert first[0, 1] > second[0, 1]


def test_marks_stand_at_their_frames():
    figure = drawn(
        Plot("opening", [Line("rendered", np.arange(100.0))], [(75, "B"), (10, "M")]), range(50, 100)
    )

    marks = [text for text in figure.iter("text") if text.get("class") == "mark"]
    assert [mark.text for mark in marks] == ["B"]
    assert float(marks[0].get("x")) == pytest.approx((56 + WIDTH) / 2)


def test_the_sound_is_drawn_where_there_is_some():
    level = np.where(np.arange(50) < 25, -80.0, -10.0)
    figure = drawn(Plot("opening", [Line("rendered", np.arange(50.0))]), range(50), level)

    outline = next(figure.iter("polygon")).get("points").split()
    heights = [float(pair.split(",")[1]) for pair in outline[:50]]
    assert heights[0] == HEIGHT / 2
    assert heights[40] < HEIGHT / 2
