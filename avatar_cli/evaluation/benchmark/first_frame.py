"""Time to first frame: from the process of the command to the first bytes in the partial file that play."""

from typing import Any

from avatar_cli.evaluation.benchmark.context import FPS, SIZE, Bench, demo_reference, demo_speech
from avatar_cli.evaluation.benchmark.figures import Bounds, Detail, Figure, Measurement
from avatar_cli.evaluation.command import Render, render_watching_first_bytes

SPEECH_SECONDS = 8
LEAST_SHOWN = 0.005  # seconds of work


def measure_first_frame(bench: Bench) -> Measurement:
    """Seen from outside, beside what the report says of itself."""
    speech = demo_speech(bench, SPEECH_SECONDS)
    outside, reported, reports = [], [], []
    for run in range(bench.runs):
        output = bench.folder / f"first-frame-{run}.mp4"  # a new name: nothing is there before
        job = Render(demo_reference(), speech, output, ("--size", SIZE, "--fps", str(FPS)))
        done, seconds = render_watching_first_bytes(job)
        outside.append(seconds)
        reported.append(float(done.report["ttff"]["first_bytes"]))
        reports.append(done.report)
        bench.say(f"first frame {run + 1}/{bench.runs}: {seconds:.2f} s, reported {reported[-1]:.2f} s")
    seen = Figure(
        "cold time to first frame",
        Bounds("5 s", "3 s"),
        " s",
        2,
        tuple(outside),
        "seen from outside: process creation to the first snapshot of the partial file that a decoder shows",
    )
    own = Figure("... as the report says", Bounds("", ""), " s", 2, tuple(reported))
    stall_free = tuple(float(report["ttff"]["stall_free_start"]) for report in reports)
    start = Figure("playing without a stall can start after", Bounds("", ""), " s", 2, stall_free)
    typical = reports[outside.index(sorted(outside)[len(outside) // 2])]
    return Measurement((seen, own, start), (waterfall(typical),))


def waterfall(report: dict[str, Any]) -> Detail:
    """What happened until the first bytes, in order."""
    rows = [
        (
            " ".join(word for word in (step["name"], step["chunk"]) if word),
            step["process"],
            f"{step['begin']:.2f}",
            f"{step['end']:.2f}",
            f"{step['busy']:.2f}",
        )
        for step in report["ttff"]["waterfall"]
        if step["busy"] >= LEAST_SHOWN
    ]
    moments = [
        (name.replace("_", " "), "", "", f"{report['ttff'][name]:.2f}", "")
        for name in ("first_frame", "first_packet", "first_bytes")
    ]
    return Detail(
        "Until the first frame (the median run), seconds from the command",
        ("work", "process", "begin", "end", "busy"),
        tuple(rows + moments),
    )
