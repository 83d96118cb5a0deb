import pytest

from avatar_cli.evaluation.benchmark import __main__ as benchmark
from avatar_cli.evaluation.benchmark.document import BEGIN, END
from avatar_cli.evaluation.benchmark.figures import Bounds, Figure, Measurement


@pytest.fixture
def parts(monkeypatch):
    def broken(bench):
        raise RuntimeError("nobody home")

    def fine(bench):
        return Measurement((Figure("wheel", Bounds("40 MB", "20 MB"), " MB", 1, (float(bench.runs),)),))

    monkeypatch.setattr(benchmark, "PARTS", {"speed": broken, "wheel": fine})


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(f"{BEGIN}\nold\n{END}\n")
    return path


def test_what_was_measured_is_printed_kept_and_put_into_documents(parts, page, tmp_path, capsys):
    kept = tmp_path / "kept.json"

    code = benchmark.main(["--only", "wheel", "--runs", "3", "--json", str(kept), "--write", str(page)])

    assert code == 0
    assert "| wheel | 40 MB | 20 MB | 3.0 MB |" in capsys.readouterr().out
    assert "3.0 MB" in page.read_text()
    assert "3.0" in kept.read_text()


def test_a_part_that_fails_leaves_documents_alone_and_keeps_what_the_others_found(
    parts, page, tmp_path, capsys
):
    kept = tmp_path / "kept.json"

    code = benchmark.main(["--json", str(kept), "--write", str(page)])

    assert code == 1
    assert "speed failed: nobody home" in capsys.readouterr().err
    assert page.read_text() == f"{BEGIN}\nold\n{END}\n"
    assert '"wheel"' in kept.read_text()


def test_parts_that_are_not_measured_come_from_an_earlier_run(parts, page, tmp_path, monkeypatch, capsys):
    kept = tmp_path / "kept.json"
    benchmark.main(["--only", "wheel", "--runs", "4", "--json", str(kept)])
    monkeypatch.setitem(benchmark.PARTS, "speed", benchmark.PARTS["wheel"])

    benchmark.main(["--only", "speed", "--runs", "2", "--earlier", str(kept), "--write", str(page)])

    assert "4.0 MB" in page.read_text()
    assert "2.0 MB" in page.read_text()
    assert "wheel 4 on" in page.read_text()
