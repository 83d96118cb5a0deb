"""How large the installable package is."""

import subprocess
import sys
from pathlib import Path

from avatar_cli.evaluation.benchmark.context import Bench
from avatar_cli.evaluation.benchmark.figures import Bounds, Figure, Measurement

MEGABYTE = 10**6
_SOURCE = Path(__file__).resolve().parents[3]


def measure_wheel(bench: Bench) -> Measurement:
    """Builds the wheel from the source tree."""
    bounds = Bounds("40 MB", "20 MB")
    if not (_SOURCE / "pyproject.toml").exists():
        return Measurement((Figure("wheel with weights", bounds, " MB", 1, (), "needs the source tree"),))
    folder = bench.folder / "wheel"
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder), str(_SOURCE)]
    subprocess.run(command, check=True)
    (wheel,) = folder.glob("*.whl")
    return Measurement((Figure("wheel with weights", bounds, " MB", 1, (wheel.stat().st_size / MEGABYTE,)),))
