import pytest

from avatar_cli.evaluation.benchmark.document import BEGIN, END
from avatar_cli.evaluation.quality import __main__ as command
from avatar_cli.evaluation.quality.figures import Definition, Range
from avatar_cli.evaluation.quality.found import Found
from avatar_cli.evaluation.quality.parts import PARTS
from avatar_cli.evaluation.quality.summary import REAL, RENDERED, Row


def test_without_media_nothing_is_measured(monkeypatch, capsys):
    monkeypatch.delenv("AVATAR_TEST_MEDIA", raising=False)

    assert command.main([]) == 4
    assert "AVATAR_TEST_MEDIA is not set" in capsys.readouterr().err


def test_a_document_is_only_written_from_all_parts(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("AVATAR_TEST_MEDIA", str(tmp_path))

    assert command.main(["--only", "people", "--write", str(tmp_path / "quality.md")]) == 2
    assert "needs all parts" in capsys.readouterr().err


def test_parts_that_are_unknown_are_refused(capsys):
    with pytest.raises(SystemExit):
        command.main(["--only", "hands"])
    words = capsys.readouterr().err
    assert all(name in words for name in PARTS)


def test_rows_of_all_parts_share_one_table():
    asked = Definition("x", "lips", "", 2, Range(low=0.5), Range(low=0.9))
    found = [
        Found([Row(asked, {RENDERED: 0.7, REAL: 0.93})], (RENDERED, "loudness", REAL), "### By recording"),
        Found([Row(Definition("y", "seams", " %", 0, Range(high=10)), {RENDERED: 12.0})]),
    ]

    lines = command._text(found).splitlines()

    assert lines[0] == "| figure | at least | goal | reached | rendered | loudness | real people |"
    assert lines[2] == "| lips | >= 0.5 | >= 0.9 | yes | 0.70 |  | 0.93 |"
    assert lines[3] == "| seams | <= 10 % |  | **no** | 12 % |  |  |"
    assert lines[-1] == "### By recording"


def test_columns_of_all_parts_stand_beside_each_other():
    parts = [Found([], (RENDERED, "loudness", REAL)), Found([], (RENDERED, "loudness", "linear basis"))]

    assert command._columns(parts) == (RENDERED, "loudness", "linear basis", REAL)
    assert command._columns([Found([])]) == (RENDERED,)


def test_drawings_and_other_documents_lie_beside_the_table(tmp_path):
    quality, prompts = tmp_path / "quality.md", tmp_path / "prompts.md"
    for document in (quality, prompts):
        document.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    found = [Found([], drawings={"seams.svg": "<svg/>"}), Found([], documents={"prompts.md": "each word"})]

    command._write(quality, "all figures", found)

    assert quality.read_text() == f"before\n{BEGIN}\nall figures\n{END}\nafter\n"
    assert prompts.read_text() == f"before\n{BEGIN}\neach word\n{END}\nafter\n"
    assert (tmp_path / "seams.svg").read_text() == "<svg/>"
