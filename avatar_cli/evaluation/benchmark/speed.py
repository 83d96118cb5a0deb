"""Steady frames a second, and what share of the encoder's own speed that is."""

import statistics
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from avatar_cli.evaluation.benchmark.context import FPS, SIZE, Bench, demo_reference, demo_speech
from avatar_cli.evaluation.benchmark.figures import Bounds, Detail, Figure, Measurement
from avatar_cli.evaluation.command import Render, Rendered, render
from avatar_cli.evaluation.encoder_speed import EncoderRun, encoder_fps
from avatar_cli.protocol.job import Encoding

SPEECH_SECONDS = 30
LEAST_SHOWN = 0.0005  # seconds of work for a second of video


def measure_speed(bench: Bench) -> Measurement:
    """Renders, then encodes the frames of that very video again, as often as asked for."""
    speech = demo_speech(bench, SPEECH_SECONDS)
    steady, encoder, reports = [], [], []
    for run in range(bench.runs):
        options = ("--size", SIZE, "--fps", str(FPS))
        done = render(Render(demo_reference(), speech, bench.folder / "speed.mp4", options))
        reports.append(done.report)
        steady.append(steady_fps(done))
        encoder.append(encoder_fps(_same_encoding(done), bench.folder / "speed-encoder.mp4"))
        bench.say(f"speed {run + 1}/{bench.runs}: {steady[-1]:.1f} frames/s, encoder alone {encoder[-1]:.1f}")
    shares = [own / alone for own, alone in zip(steady, encoder, strict=True)]
    note = (
        f"{SPEECH_SECONDS} s of speech, bundled photo; from the end of the first chunk to the finished file"
    )
    alone = f"which makes {statistics.median(encoder):.0f} frames/s of the same frames, from memory"
    return Measurement(
        (
            Figure("steady frames/s, 1280x720 end to end", Bounds("30", "60"), "", 1, tuple(steady), note),
            Figure("... over those of the encoder alone", Bounds("0.3", "0.6"), "", 2, tuple(shares), alone),
        ),
        (stage_shares(reports),),
    )


def steady_fps(done: Rendered) -> float:
    """Frames a second after the first chunk, checked against the time that the command took in all."""
    speed: dict[str, Any] = done.report["speed"]
    if speed["steady_fps"] is None:
        raise RuntimeError(f"{done.output} ended within the warm-up: render longer speech")
    counted = speed["frames"] - speed["warm_up_frames"]
    if counted / speed["steady_fps"] > done.seconds:
        raise RuntimeError(f"{done.output} reports a steady phase longer than the command ran")
    return float(speed["steady_fps"])


def stage_shares(reports: list[dict[str, Any]]) -> Detail:
    """Seconds of work of each kind for a second of video, the mean of all runs."""
    sums: dict[str, float] = defaultdict(float)
    for report in reports:
        for name, total in report["stages"].items():
            sums[name] += total["seconds"] / report["speed"]["duration"] / len(reports)
    worth_showing = {name: seconds for name, seconds in sums.items() if seconds >= LEAST_SHOWN}
    largest_first = sorted(worth_showing.items(), key=lambda item: -item[1])
    total = sum(sums.values())
    rows = [
        (name, f"{1000 * seconds:.1f} ms", f"{100 * seconds / total:.0f} %")
        for name, seconds in largest_first
    ]
    return Detail(
        "Where the time goes, for each second of video",
        ("work", "time", "share"),
        tuple(rows),
        "Work of different threads and processes overlaps; decode includes waiting for the encoder. "
        "What happens once (imports, load, reference) is spread over the whole video.",
    )


def _same_encoding(done: Rendered) -> EncoderRun:
    job, speed = done.report["job"], done.report["speed"]
    return EncoderRun(
        video=done.output,
        speech=Path(job["speech"]),
        fps=Fraction(job["picture"]["fps"]),
        encoding=Encoding(**job["encoding"]),
        frames=speed["frames"],
        warm_up_frames=speed["warm_up_frames"],
    )
