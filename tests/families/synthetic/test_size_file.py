"""Sizes come from files, and the base transformer takes any number of parameters."""

from pathlib import Path

import pytest

from avatar_cli.families.synthetic.size_file import Changes, changed, parameters, read_count, read_size
from avatar_cli.protocol.errors import UsageError

SIZES = Path(__file__).parents[3] / "configs" / "synthetic"


def test_the_large_size_has_fourteen_billion_parameters():
    counts = parameters(read_size(SIZES / "14b.yaml"))
    assert counts["a2v_dit"] == pytest.approx(14e9, rel=0.001)
    assert counts["sr_dit"] == pytest.approx(1.4e9, rel=0.05)


@pytest.mark.parametrize(
    ("text", "blocks", "hidden"), [("14B", 40, 5120), ("1.3B", 30, 1536), ("90M", 12, 768)]
)
def test_the_width_of_the_mlp_makes_the_number_of_parameters(tiny, text, blocks, hidden):
    size = changed(tiny, Changes(read_count(text), blocks, hidden, heads=hidden // 128))
    half_a_step = blocks * (hidden + 1) * 16  # the width of the MLP is a multiple of 16
    assert abs(parameters(size)["a2v_dit"] - read_count(text)) <= half_a_step
    assert size.networks.a2v.transformer.blocks == blocks


def test_without_a_number_of_parameters_the_shape_stays(tiny):
    wider = changed(tiny, Changes(hidden=192))
    transformer, base = wider.networks.a2v.transformer, tiny.networks.a2v.transformer
    assert transformer.mlp / transformer.hidden == base.mlp / base.hidden
    assert transformer.hidden / transformer.heads == base.hidden / base.heads
    assert changed(tiny, Changes()) == tiny


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (Changes(params=1000), "ask for fewer --blocks"),
        (Changes(hidden=100, heads=3), "cannot be shared out over 3 heads"),
    ],
)
def test_what_cannot_be_is_refused(tiny, changes, words):
    with pytest.raises(UsageError, match=words):
        changed(tiny, changes)


@pytest.mark.parametrize("text", ["", "B", "many", "-3B", "0", "1e999"])
def test_a_number_of_parameters_must_be_one(text):
    with pytest.raises(UsageError, match="is not a number of parameters"):
        read_count(text)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("dtype: float32", "dtype: float8", "is no size of a synthetic model"),
        ("width: 64", "width: 65", "multiples of 32, not 65"),
        ("steps: 4", "step: 4", "is no size of a synthetic model"),
        ("a2v_dit:", "a2v:", "is no size of a synthetic model"),
    ],
)
def test_a_file_that_is_no_size_is_told_by_name(tmp_path, old, new, words):
    path = tmp_path / "mine.yaml"
    path.write_text((SIZES / "tiny.yaml").read_text().replace(old, new))
    with pytest.raises(UsageError, match=words):
        read_size(path)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_size(tmp_path / "none.yaml")
