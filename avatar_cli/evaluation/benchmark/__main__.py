"""The command line of the benchmark."""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from avatar_cli.evaluation.benchmark.context import Bench, Part, media_folder
from avatar_cli.evaluation.benchmark.document import replace_measured
from avatar_cli.evaluation.benchmark.figures import Detail
from avatar_cli.evaluation.benchmark.first_frame import measure_first_frame
from avatar_cli.evaluation.benchmark.length import COST_TABLE, measure_length
from avatar_cli.evaluation.benchmark.machine import this_machine
from avatar_cli.evaluation.benchmark.mouth import measure_mouth
from avatar_cli.evaluation.benchmark.photo import measure_photo
from avatar_cli.evaluation.benchmark.plot import plot_cost
from avatar_cli.evaluation.benchmark.results import Result, brief_text, from_json, full_text, to_json
from avatar_cli.evaluation.benchmark.seams import measure_seams
from avatar_cli.evaluation.benchmark.silence import measure_silence
from avatar_cli.evaluation.benchmark.speed import measure_speed
from avatar_cli.evaluation.benchmark.variants import measure_ranks, measure_sizes
from avatar_cli.evaluation.benchmark.warm import measure_warm
from avatar_cli.evaluation.benchmark.wheel import measure_wheel
from avatar_cli.protocol.errors import AvatarError

PARTS: dict[str, Part] = {
    "speed": measure_speed,
    "first-frame": measure_first_frame,
    "warm": measure_warm,
    "sizes": measure_sizes,
    "ranks": measure_ranks,
    "length": measure_length,
    "photo": measure_photo,
    "mouth": measure_mouth,
    "silence": measure_silence,
    "seams": measure_seams,
    "wheel": measure_wheel,
}


def main(arguments: list[str] | None = None) -> int:
    """Measures, prints Markdown, and returns the exit status: 1 where a part failed."""
    options = _parser().parse_args(arguments)
    machine = this_machine()
    earlier = from_json(options.earlier.read_text(encoding="utf-8")) if options.earlier else {}
    measured: dict[str, Result] = {}
    chosen = options.only or list(PARTS)
    with tempfile.TemporaryDirectory(prefix="avatar-bench-") as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        bench = Bench(folder.resolve(), options.runs, media_folder(), options.long)
        for name in chosen:
            try:
                measured[name] = Result(PARTS[name](bench), machine, options.runs)
            except (RuntimeError, ValueError, OSError, subprocess.CalledProcessError, AvatarError) as error:
                bench.say(f"{name} failed: {error}")
    results = {name: found for name in PARTS if (found := measured.get(name) or earlier.get(name))}
    print(full_text(results))
    if options.json:
        options.json.write_text(to_json(results), encoding="utf-8")
    if set(chosen) != set(measured):
        bench.say("Documents are left as they are, since not everything could be measured.")
        return 1
    if options.write:
        replace_measured(options.write, full_text(results))
    if options.write_brief:
        replace_measured(options.write_brief, brief_text(results))
    if options.plot:
        plot_cost(_cost_table(results), options.plot)
    return 0


def _cost_table(results: dict[str, Result]) -> Detail:
    (table,) = (
        detail
        for result in results.values()
        for detail in result.measurement.details
        if detail.title == COST_TABLE
    )
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m avatar_cli.evaluation.benchmark",
        description="Measures avatar on this machine. Run it alone: other work changes the figures.",
    )
    parser.add_argument("--only", nargs="+", choices=list(PARTS), metavar="NAME", help=", ".join(PARTS))
    parser.add_argument("--runs", type=int, default=5, help="of every figure that varies (default 5)")
    parser.add_argument("--long", action="store_true", help="also speech of more than a minute, up to ten")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every value as JSON")
    parser.add_argument(
        "--earlier", type=Path, metavar="FILE", help="JSON of an earlier run, for the parts not measured now"
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="put all tables into a document")
    parser.add_argument("--write-brief", type=Path, metavar="FILE", help="the same with the main table only")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the part `length` as an SVG")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep what was rendered")
    return parser


if __name__ == "__main__":
    sys.exit(main())
