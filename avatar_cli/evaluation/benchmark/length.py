"""What longer speech costs: time, processor time and, above all, memory."""

import statistics
from dataclasses import dataclass
from pathlib import Path

from avatar_cli.evaluation.benchmark.context import (
    FPS,
    SIZE,
    Bench,
    demo_reference,
    demo_speech,
)
from avatar_cli.evaluation.benchmark.figures import Bounds, Detail, Figure, Measurement
from avatar_cli.evaluation.command import Render, render_watching_memory
from avatar_cli.evaluation.process_memory import SAMPLE_SECONDS
from avatar_cli.media.decoding import extract_wav

LONG_SPEECH = "speech/s51_lj_10min_22k.flac"
SHORTEST = 10  # seconds
LENGTHS = (30, 60)
LONG_LENGTHS = (180, 600)
MEBIBYTE = 2**20
COST_TABLE = "Cost against the length of the speech"
_BOUNDS = Bounds("+40 MB", "+10 MB")
_TITLE = "peak memory, {} against 10 s of speech"


@dataclass(frozen=True)
class Cost:
    """One length.

    Attributes:
        seconds: Of speech.
        wall: Seconds that the command took.
        cpu: Processor seconds of all its processes.
        samples: PSS in bytes over time, all processes together.
    """

    seconds: int
    wall: float
    cpu: float
    samples: tuple[int, ...]

    @property
    def peak(self) -> float:
        """Highest sample, MB."""
        return max(self.samples) / MEBIBYTE


def measure_length(bench: Bench) -> Measurement:
    """The shortest as often as asked for, the others once: the long ones take minutes."""
    shortest = [_cost(bench, SHORTEST) for _ in range(bench.runs)]
    longer = [_cost(bench, seconds) for seconds in (*LENGTHS, *(LONG_LENGTHS if bench.long else ()))]
    typical = sorted(shortest, key=lambda cost: cost.peak)[len(shortest) // 2]
    return Measurement((_memory(shortest, longer[-1]),), (_table([typical, *longer]),))


def _cost(bench: Bench, seconds: int) -> Cost:
    job = Render(
        demo_reference(),
        _speech(bench, seconds),
        bench.folder / "length.mp4",
        ("--size", SIZE, "--fps", str(FPS)),
    )
    done, samples = render_watching_memory(job)
    cost = Cost(seconds, done.seconds, done.cpu_seconds, tuple(samples))
    bench.say(
        f"length {seconds} s: {cost.wall:.1f} s, {cost.cpu:.1f} s of processor, peak {cost.peak:.0f} MB"
    )
    return cost


def _speech(bench: Bench, seconds: int) -> Path:
    if bench.media is None:
        return demo_speech(bench, seconds)
    path = bench.folder / f"long-speech-{seconds}s.wav"
    if not path.exists():
        extract_wav(bench.media / LONG_SPEECH, path, seconds=seconds)
    return path


def _memory(shortest: list[Cost], longest: Cost) -> Figure:
    long_enough = longest.seconds == LONG_LENGTHS[-1]
    title = _TITLE.format("10 min" if long_enough else f"{longest.seconds} s")
    short_peak = statistics.median(cost.peak for cost in shortest)
    note = (
        f"sum of the PSS of all processes, every {SAMPLE_SECONDS} s: {longest.peak:.0f} MB against "
        f"{short_peak:.0f} MB, one long run"
    )
    if long_enough:
        note += f"; its last tenth against its second: {_drift(longest.samples):+.1f} MB"
    bounds = _BOUNDS if long_enough else Bounds("", "")
    return Figure(title, bounds, " MB", 1, (longest.peak - short_peak,), note)


def _drift(samples: tuple[int, ...]) -> float:
    """Median of a long render's last tenth minus that of its second, MB: whatever the start took."""
    tenth = max(1, len(samples) // 10)
    # The very last samples see processes that are ending.
    late, early = samples[-tenth - tenth // 4 : -(tenth // 4) or None], samples[tenth : 2 * tenth]
    return (statistics.median(late) - statistics.median(early)) / MEBIBYTE


def _table(costs: list[Cost]) -> Detail:
    rows = tuple(
        (
            f"{cost.seconds} s",
            f"{cost.wall:.1f}",
            f"{cost.cpu:.1f}",
            f"{cost.peak:.0f}",
            f"{cost.wall / cost.seconds:.2f}",
        )
        for cost in costs
    )
    header = ("speech", "seconds", "processor seconds", "peak memory, MB", "seconds for a second of speech")
    return Detail(
        COST_TABLE, header, rows, "Start-up included, as a user waits for it; 1280x720, 25 frames/s."
    )
