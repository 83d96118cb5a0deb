"""Time to first frame of a job whose process has done one before: no start, no imports, warm caches."""

import json
import os
import subprocess
import sys

from avatar_cli.evaluation.benchmark.context import FPS, SIZE, Bench, demo_reference, demo_speech
from avatar_cli.evaluation.benchmark.figures import Bounds, Figure, Measurement
from avatar_cli.evaluation.command import Render, render

SPEECH_SECONDS = 8
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}  # as the command


def measure_warm(bench: Bench) -> Measurement:
    """Two jobs in one process, as often as asked for, each time in a new process."""
    speech = demo_speech(bench, SPEECH_SECONDS)
    options = ("--size", SIZE, "--fps", str(FPS))
    done = render(Render(demo_reference(), speech, bench.folder / "warm.mp4", options))
    job = bench.folder / "warm-job.json"
    job.write_text(json.dumps(done.report["job"]), encoding="utf-8")
    pairs = []
    for run in range(bench.runs):
        command = [sys.executable, "-m", "avatar_cli.evaluation.warm_job", str(job)]
        printed = subprocess.run(
            command, env={**os.environ, **_ONE_THREAD}, stdout=subprocess.PIPE, text=True, check=True
        ).stdout
        pairs.append(json.loads(printed))
        bench.say(f"warm {run + 1}/{bench.runs}: first job {pairs[-1][0]:.2f} s, second {pairs[-1][1]:.2f} s")
    first, second = zip(*pairs, strict=True)
    return Measurement(
        (
            Figure(
                "time to first frame of a second job in one process",
                Bounds("", ""),
                " s",
                2,
                tuple(second),
                "from the job's start in a process that has rendered one before",
            ),
            Figure(
                "... of the first job there",
                Bounds("", ""),
                " s",
                2,
                tuple(first),
                "everything is imported, nothing is loaded",
            ),
        )
    )
