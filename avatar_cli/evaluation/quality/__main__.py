"""`make quality`: renders people never trained on, judges them, and fills the table of docs/quality.md."""

import argparse
import json
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from multiprocessing import get_context
from pathlib import Path

from avatar_cli import __version__
from avatar_cli.evaluation.benchmark.context import MEDIA_VARIABLE, media_folder
from avatar_cli.evaluation.benchmark.document import replace_measured
from avatar_cli.evaluation.quality import summary
from avatar_cli.evaluation.quality.found import Found, Work, say
from avatar_cli.evaluation.quality.parts import PARTS, measure_part


def main(arguments: list[str] | None = None) -> int:
    """Measures and prints Markdown; returns the exit status."""
    options = _parser().parse_args(arguments)
    media = media_folder()
    if media is None:
        say(f"{MEDIA_VARIABLE} is not set: it must name the folder with video, speech, portraits and models.")
        return 4
    chosen = options.only or list(PARTS)
    if options.write and set(chosen) != set(PARTS):
        say("--write needs all parts: leave --only out.")
        return 2
    with tempfile.TemporaryDirectory(prefix="avatar-quality-") as temporary:
        folder = (options.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        found = _measure([name for name in PARTS if name in chosen], Work(media, folder))
    text = _text(found)
    print(text)
    if options.json:
        values = {row.definition.key: dict(row.values) for part in found for row in part.rows}
        options.json.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    if options.write:
        _write(options.write, text, found)
    return 0


def _write(document: Path, text: str, found: list[Found]) -> None:
    """The tables, and beside them the drawings and the measured parts of other documents."""
    replace_measured(document, text)
    for part in found:
        for name, drawing in part.drawings.items():
            document.with_name(name).write_text(drawing, encoding="utf-8")
        for name, measured in part.documents.items():
            replace_measured(document.with_name(name), measured)


def _measure(names: list[str], work: Work) -> list[Found]:
    """Two parts at a time: watching takes one core."""
    with ProcessPoolExecutor(max_workers=2, mp_context=get_context("spawn")) as pool:
        return list(pool.map(measure_part, names, [work] * len(names)))


def _text(found: list[Found]) -> str:
    rows = [row for part in found for row in part.rows]
    when = f"avatar {__version__}, {date.today().isoformat()}."
    sections = [part.section for part in found if part.section]
    return "\n\n".join([summary.table(rows, _columns(found)), when, *sections])


def _columns(found: list[Found]) -> tuple[str, ...]:
    """Those of all parts, each once: the render first, real people last."""
    named = [name for part in found for name in part.columns if name not in (summary.RENDERED, summary.REAL)]
    real = (summary.REAL,) if any(summary.REAL in part.columns for part in found) else ()
    return (summary.RENDERED, *dict.fromkeys(named), *real)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m avatar_cli.evaluation.quality",
        description="Judges avatar on people that no training has seen, next to what less would do.",
    )
    parser.add_argument("--only", nargs="+", choices=list(PARTS), metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the tables into a document")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every value")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep what was rendered")
    return parser


if __name__ == "__main__":
    sys.exit(main())
