"""Keeps measured tables in a document up to date, between two markers."""

from pathlib import Path

BEGIN = "<!-- measured: begin -->"
END = "<!-- measured: end -->"


def replace_measured(document: Path, text: str) -> None:
    """Puts `text` between the markers of a document; what stood there before is gone.

    Raises:
        ValueError: the document does not have both markers, in order, once each.
    """
    old = document.read_text(encoding="utf-8")
    if old.count(BEGIN) != 1 or old.count(END) != 1 or old.index(BEGIN) > old.index(END):
        raise ValueError(f"{document} needs one line {BEGIN} and, after it, one line {END}")
    before, _, rest = old.partition(BEGIN)
    _, _, after = rest.partition(END)
    document.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
