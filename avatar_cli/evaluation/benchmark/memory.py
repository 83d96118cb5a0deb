"""Does memory grow with the length of the speech?"""

import statistics
from pathlib import Path

from avatar_cli.evaluation.benchmark.context import FPS, MEDIA_VARIABLE, SIZE, Bench, demo_reference
from avatar_cli.evaluation.benchmark.figures import Bounds, Figure, Measurement
from avatar_cli.evaluation.command import Render, render_watching_memory
from avatar_cli.evaluation.decode import extract_wav
from avatar_cli.evaluation.process_memory import SAMPLE_SECONDS

LONG_SPEECH = "speech/s51_lj_10min_22k.flac"
SHORT_SECONDS = 10
MEBIBYTE = 2**20
_BOUNDS = Bounds("+40 MB", "+10 MB")
_TITLE = "peak memory, 10 min against 10 s of speech"


def measure_memory(bench: Bench) -> Measurement:
    """One long render, which takes minutes, and short ones; all processes of a job together."""
    if bench.media is None:
        return Measurement((Figure(_TITLE, _BOUNDS, " MB", 1, (), f"needs {MEDIA_VARIABLE}"),))
    long_speech = bench.media / LONG_SPEECH
    short_speech = bench.folder / "memory-10s.wav"
    extract_wav(long_speech, short_speech, seconds=SHORT_SECONDS)
    short = [_samples(bench, short_speech) for _ in range(bench.runs)]
    bench.say(f"memory, 10 s: peaks {', '.join(f'{max(samples) / MEBIBYTE:.0f}' for samples in short)} MB")
    bench.say("memory, 10 min: this takes minutes")
    long = _samples(bench, long_speech)
    short_peak = statistics.median(max(samples) for samples in short)
    difference = (max(long) - short_peak) / MEBIBYTE
    note = (
        f"sum of the PSS of all processes, every {SAMPLE_SECONDS} s: {max(long) / MEBIBYTE:.0f} MB against "
        f"{short_peak / MEBIBYTE:.0f} MB, one long run; its last tenth against its second: "
        f"{_drift(long):+.1f} MB"
    )
    return Measurement((Figure(_TITLE, _BOUNDS, " MB", 1, (difference,), note),))


def _samples(bench: Bench, speech: Path) -> list[int]:
    options = ("--size", SIZE, "--fps", str(FPS))
    return render_watching_memory(Render(demo_reference(), speech, bench.folder / "memory.mp4", options))[1]


def _drift(samples: list[int]) -> float:
    """Median of a long render's last tenth minus that of its second, MB: whatever the start took."""
    tenth = max(1, len(samples) // 10)
    # The very last samples see processes that are ending.
    late, early = samples[-tenth - tenth // 4 : -(tenth // 4) or None], samples[tenth : 2 * tenth]
    return (statistics.median(late) - statistics.median(early)) / MEBIBYTE
