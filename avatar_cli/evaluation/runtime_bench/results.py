"""What the bench found, as data: everything in seconds and bytes."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from avatar_cli.evaluation.runtime_bench.switches import Switch


@dataclass(frozen=True)
class Setting:
    """What was run, and on what."""

    device: str
    on_gpu: bool
    ranks: int
    threads: int
    torch: str
    size: str
    dtype: str
    parameters: dict[str, int]  # by network


@dataclass(frozen=True)
class Placed:
    """The networks placed in one way, beside the same networks all resident.

    `hidden_copies` and `hidden_gathers` are shares 0..1 of the time of copies and all-gathers under compute;
    None where there were none.
    """

    keep: str
    chunk_seconds: float
    resident_chunk_seconds: float
    switches: tuple[Switch, ...]
    hidden_copies: float | None
    hidden_gathers: float | None
    copy_rate: float | None  # bytes a second, of the loop's own copies
    idle_share: float  # 0..1 of the time between first and last block (kernels on a GPU) in which none ran
    longest_gap: float


@dataclass(frozen=True)
class Overhead:
    """Seconds of one chunk in the pipeline, all resident, and by calls of the bare networks in a loop.

    Processor time on a CPU, where stages overlap on several cores; elapsed time on a GPU.
    """

    pipeline_seconds: float
    bare_seconds: float

    @property
    def share(self) -> float:
        """What the runtime adds, as a share of the bare networks' time."""
        return self.pipeline_seconds / self.bare_seconds - 1


@dataclass(frozen=True)
class Results:
    """All figures of one bench."""

    setting: Setting
    placed: tuple[Placed, ...]
    plain_copy_rate: float  # bytes a second, of one large copy from pinned memory
    peaks: dict[int, int]  # bytes after so many chunks of the last placement: device, or host without one
    overhead: Overhead | None  # None on several ranks

    def as_json(self) -> dict[str, Any]:
        """As JSON data, with what follows from the figures."""
        data = dataclasses.asdict(self)
        for placed, described in zip(self.placed, data["placed"], strict=True):
            for switch, described_switch in zip(placed.switches, described["switches"], strict=True):
                described_switch["visible_seconds"] = switch.visible_seconds
        if self.overhead is not None:
            data["overhead"]["share"] = self.overhead.share
        return data
