"""The same render at other sizes, and on two ranks."""

import statistics
from collections.abc import Sequence

from avatar_cli.evaluation.benchmark.context import FPS, SIZE, Bench, demo_reference, demo_speech
from avatar_cli.evaluation.benchmark.figures import Detail, Measurement
from avatar_cli.evaluation.benchmark.speed import steady_fps
from avatar_cli.evaluation.command import Render, render_watching_memory

SPEECH_SECONDS = 20
SIZES = ("540p", "720p", "1080p")
RANKS = (1, 2)
_HEADER = ("steady frames/s", "first frame, s", "peak memory, MB")


def measure_sizes(bench: Bench) -> Measurement:
    """Frames/s, time to first frame and memory at each size of the command."""
    rows = [(size, *_row(bench, f"size {size}", ("--size", size))) for size in SIZES]
    return Measurement((), (Detail("By size", ("size", *_HEADER), tuple(rows), _NOTE),))


def measure_ranks(bench: Bench) -> Measurement:
    """The same for one process and for two that share the networks; at 720p."""
    rows = [
        (str(ranks), *_row(bench, f"{ranks} rank(s)", ("--size", SIZE, "--nproc", str(ranks))))
        for ranks in RANKS
    ]
    return Measurement((), (Detail("By ranks, 1280x720", ("ranks", *_HEADER), tuple(rows), _NOTE),))


_NOTE = f"Bundled photo and {SPEECH_SECONDS} s of speech at {FPS} frames/s; medians, range in brackets."


def _row(bench: Bench, name: str, options: tuple[str, ...]) -> tuple[str, ...]:
    speech = demo_speech(bench, SPEECH_SECONDS)
    speeds, first, peaks = [], [], []
    for run in range(bench.runs):
        job = Render(demo_reference(), speech, bench.folder / "variant.mp4", (*options, "--fps", str(FPS)))
        done, samples = render_watching_memory(job)
        speeds.append(steady_fps(done))
        first.append(float(done.report["ttff"]["first_bytes"]))
        peaks.append(max(samples) / 2**20)
        bench.say(f"{name} {run + 1}/{bench.runs}: {speeds[-1]:.1f} frames/s, first after {first[-1]:.2f} s")
    return _with_range(speeds, 1), _with_range(first, 2), _with_range(peaks, 0)


def _with_range(values: Sequence[float], digits: int) -> str:
    middle = f"{statistics.median(values):.{digits}f}"
    if len(values) == 1:
        return middle
    return f"{middle} ({min(values):.{digits}f} to {max(values):.{digits}f})"
