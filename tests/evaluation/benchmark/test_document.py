import shutil
from pathlib import Path

import pytest

from avatar_cli.evaluation.benchmark.__main__ import PARTS
from avatar_cli.evaluation.benchmark.document import BEGIN, END, replace_measured

PERFORMANCE = Path(__file__).parents[3] / "docs" / "performance.md"


def test_only_what_stands_between_the_markers_is_replaced(tmp_path):
    document = tmp_path / "performance.md"
    document.write_text(f"# Title\n\n{BEGIN}\nold\n{END}\n\nThe rest.\n")

    replace_measured(document, "new")
    replace_measured(document, "newer")

    assert document.read_text() == f"# Title\n\n{BEGIN}\nnewer\n{END}\n\nThe rest.\n"


@pytest.mark.parametrize("text", ["no markers", f"{END}\n{BEGIN}\n", f"{BEGIN}\n{BEGIN}\n{END}\n"])
def test_a_document_without_a_place_for_the_table_is_left_alone(tmp_path, text):
    document = tmp_path / "performance.md"
    document.write_text(text)

    with pytest.raises(ValueError, match="needs one line"):
        replace_measured(document, "new")

    assert document.read_text() == text


def test_the_page_on_performance_has_a_place_for_the_tables_and_explains_every_part(tmp_path):
    page = shutil.copy(PERFORMANCE, tmp_path)

    replace_measured(Path(page), "measured")

    assert all(f"(`{part}`)" in PERFORMANCE.read_text() for part in PARTS)
