"""The results in words."""

from collections.abc import Iterator

from avatar_cli.evaluation.runtime_bench.results import Placed, Results, Setting
from avatar_cli.evaluation.runtime_bench.switches import Switch

NO_GPU = (
    "No GPU here: the same logic ran on the CPU, with an imitation of streams and events where one rank "
    "streams. Nothing below says anything about a GPU."
)


def lines(results: Results) -> Iterator[str]:
    """The table, line by line."""
    setting = results.setting
    yield _headline(setting)
    if not setting.on_gpu:
        yield NO_GPU
    for placed in results.placed:
        yield ""
        yield from _placed(placed, setting)
    yield ""
    way = "pinned memory to the GPU" if setting.on_gpu else "memory to memory"
    yield f"plain copy, {way}: {_rate(results.plain_copy_rate)}"
    peaks = ", ".join(f"{_size(peak)} after {count}" for count, peak in results.peaks.items())
    yield f"peak {'device' if setting.on_gpu else 'host'} memory, chunks: {peaks}"
    if results.overhead is not None:
        overhead = results.overhead
        kind = "elapsed" if setting.on_gpu else "processor"
        yield (
            f"runtime against the bare networks in a loop, all resident: {100 * overhead.share:+.1f} % "
            f"({_time(overhead.pipeline_seconds)} against {_time(overhead.bare_seconds)} of {kind} time "
            "a chunk)"
        )


def _headline(setting: Setting) -> str:
    networks = ", ".join(f"{name} {_count(count)}" for name, count in setting.parameters.items())
    ranks = f"{setting.ranks} ranks" if setting.ranks > 1 else "1 rank"
    return (
        f"{setting.size} ({setting.dtype}: {networks}) on {setting.device}, {ranks}, torch {setting.torch}, "
        f"{setting.threads} threads"
    )


def _placed(placed: Placed, setting: Setting) -> Iterator[str]:
    yield f"{placed.keep}:"
    for switch in placed.switches:
        yield f"  {_switch(switch)}"
    against = 100 * (placed.chunk_seconds / placed.resident_chunk_seconds - 1)
    yield (
        f"  steady chunk: {_time(placed.chunk_seconds)}, all resident {_time(placed.resident_chunk_seconds)} "
        f"({against:+.1f} %)"
    )
    yield f"  copies: {_hidden(placed.hidden_copies)}{_at_rate(placed.copy_rate)}"
    yield f"  all-gathers: {_hidden(placed.hidden_gathers)}"
    what = "kernels" if setting.on_gpu else "blocks"
    yield (
        f"  gaps between {what}: {100 * placed.idle_share:.1f} % of the time, "
        f"the longest {_time(placed.longest_gap)}"
    )


def _switch(switch: Switch) -> str:
    return (
        f"switch time {switch.outgoing} -> {switch.incoming}: {_time(switch.visible_seconds)} visible "
        f"({_time(switch.seconds)} with the switch, {_time(switch.resident_seconds)} all resident, "
        f"median of {switch.count})"
    )


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if abs(seconds) >= 1 else f"{1000 * seconds:.2f} ms"


def _hidden(share: float | None) -> str:
    return "none" if share is None else f"{100 * share:.0f} % of their time under compute"


def _at_rate(rate: float | None) -> str:
    return "" if rate is None else f", at {_rate(rate)}"


def _rate(rate: float) -> str:
    return f"{rate / 1e9:.1f} GB/s"


def _size(nbytes: int) -> str:
    return f"{nbytes / 2**30:.2f} GiB"


def _count(count: int) -> str:
    return f"{count / 1e9:.1f} B" if count >= 1e9 else f"{count / 1e6:.1f} M"
