"""The golden schedule: the order in which two networks come and go over three chunks.

`PYTHONPATH=.:tests/runtime python tests/runtime/golden/schedule.py` makes the files of this folder and
docs/schedule.svg anew. Do that when the order is meant to change, look at the picture, and commit all.

A line is `+ NAME` where something begins and `- NAME` where it ends; `copy NAME` and `gather NAME` stand
where the host queues them: everything between begin and end of a forward runs under it on a GPU.
"""

import html
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing
from tiny_network import tiny_module, write_tiny_checkpoint
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

from avatar_cli.protocol.events import Event, Interval, now
from avatar_cli.runtime.residency import Keep, Placement, Residency, Use, place, resident
from avatar_cli.runtime.residency.host_copies import HostCopies

HERE = Path(__file__).parent
SHARDED, STREAMED = HERE / "schedule_sharded.txt", HERE / "schedule_streamed.txt"
PICTURE = HERE.parents[2] / "docs" / "schedule.svg"
CHUNKS, STEPS, RANKS = 3, 2, 2
TIME = torch.tensor(0.3)


def uses(folder: Path) -> tuple[Use, Use]:
    """Two networks of three blocks; the first one is called twice a chunk."""
    a2v, sr = (tiny_module(folder / f"{name}.safetensors", name=name) for name in ("a2v", "sr"))
    return Use(a2v, calls=STEPS), Use(sr)


def write_weights(folder: Path) -> None:
    """Random weights of both."""
    for seed, name in enumerate(("a2v", "sr")):
        write_tiny_checkpoint(folder / f"{name}.safetensors", seed)


def run_chunks(a2v: Residency, sr: Residency) -> Tensor:
    """Chunk after chunk through both networks, each bringing in the other one under its last block."""
    x = torch.randn(1, 7, 5, generator=torch.Generator().manual_seed(5))
    for _ in range(CHUNKS):
        with resident(a2v) as (network,):
            for step in range(STEPS):
                if step == STEPS - 1:
                    a2v.prefetch(sr)
                x = network(x, TIME)
        with resident(sr) as (network,):
            sr.prefetch(a2v)
            x = network(x, TIME)
    return x


def to_lines(events: Sequence[Event]) -> list[str]:
    """Begins and ends of blocks, copies and gatherings, of entering and leaving, in order of time."""
    lines: list[tuple[float, str]] = []
    for event in events:
        assert isinstance(event, Interval)
        if event.name.startswith(("gather", "copy")):
            lines.append((event.begin, event.name))
        elif event.name.startswith(("forward", "enter", "leave")):
            lines += [(event.begin, f"+ {event.name}"), (event.end, f"- {event.name}")]
    return [line for _, line in sorted(lines)]


class _QueuedCopies(HostCopies):
    """Tells when a copy is queued; when the thread gets to it is up to the machine."""

    def __init__(self, events: list[Event]) -> None:
        super().__init__()
        self._events = events

    def copy(self, host: Tensor, target: Tensor, name: str) -> None:
        """Queue one copy."""
        self._events.append(Interval(f"copy {name}", now(), now(), 0, "MainThread"))
        super().copy(host, target, name)


def streamed(folder: Path) -> list[str]:
    """The schedule of one rank, on an imitation of a GPU's streams."""
    events: list[Event] = []
    placement = Placement(
        torch.device("cpu"), keep=Keep.STREAM, engine=_QueuedCopies(events), trace_blocks=True
    )
    with torch.no_grad():
        run_chunks(*place(uses(folder), placement, events.append))
    return to_lines(events)


def sharded(folder: Path, rank: int, mesh: DeviceMesh) -> list[str]:
    """The schedule of one of several ranks."""
    events: list[Event] = []
    placement = Placement(torch.device("cpu"), rank, mesh, keep=Keep.STREAM, trace_blocks=True)
    with torch.no_grad():
        run_chunks(*place(uses(folder), placement, events.append))
    return to_lines(events)


@dataclass(frozen=True)
class _Bar:
    """A rectangle of the picture: from and to are places in the order, a lane counts from 0."""

    begin: int
    end: int
    lane: int
    name: str


COLOURS = {"a2v": ("#2b6cb0", "#bcd7f0"), "sr": ("#b7791f", "#f3dca9")}
UNIT, LANE, LEFT, PANEL = 9, 22, 70, 118


def to_svg(streamed: Sequence[str], sharded: Sequence[str]) -> str:
    """One panel a schedule: what is queued above what is computed, both in the order of the lines."""
    panels = (
        ("One rank: copied from pinned memory", streamed),
        ("Several ranks: gathered by FSDP", sharded),
    )
    width = LEFT + UNIT * max(len(streamed), len(sharded)) + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {PANEL * len(panels) + 4}" '
        'font-family="sans-serif" font-size="10">',
        f'<rect width="{width}" height="{PANEL * len(panels) + 4}" fill="#ffffff"/>',
    ]
    for number, (title, lines) in enumerate(panels):
        parts += _panel(title, lines, PANEL * number)
    return "\n".join([*parts, "</svg>", ""])


def _panel(title: str, lines: Sequence[str], top: int) -> list[str]:
    kind = "gathered" if any(line.startswith("gather") for line in lines) else "copied"
    parts = [f'<text x="4" y="{top + 16}" font-weight="bold" font-size="12">{html.escape(title)}</text>']
    for lane, label in enumerate((kind, "computed", "entered")):
        parts.append(f'<text x="4" y="{top + 43 + LANE * lane}">{label}</text>')
    for bar in _bars(lines):
        network, _, part = bar.name.partition(".")
        dark, light = COLOURS[network]
        x, y = LEFT + UNIT * bar.begin, top + 28 + LANE * bar.lane
        fill, ink, edge = (dark, "#ffffff", light) if bar.lane == 1 else (light, "#000000", dark)
        size = UNIT * (bar.end - bar.begin)
        parts.append(
            f'<rect x="{x}" y="{y}" width="{size - 1}" height="{LANE - 3}" fill="{fill}" stroke="{edge}"/>'
            f'<text x="{x + size / 2 - 0.5}" y="{y + 14}" text-anchor="middle" fill="{ink}">'
            f"{'r' if part == 'root' else part or network}</text>"
        )
    return parts


def _bars(lines: Sequence[str]) -> list[_Bar]:
    bars: list[_Bar] = []
    begun: dict[str, int] = {}
    for place_in_order, line in enumerate(lines):
        sign, what, name = re.fullmatch(r"([+-] )?(\w+) (\S+)", line).groups()
        if sign is None:
            bars.append(_Bar(place_in_order, place_in_order + 1, 0, name))
        elif what == "forward" and sign == "- ":
            bars.append(_Bar(begun.pop(name), place_in_order + 1, 1, name))
        elif what == "leave" and sign == "- ":
            bars.append(_Bar(begun.pop(name), place_in_order + 1, 2, name))
        elif sign == "+ " and what in ("forward", "enter"):
            begun[name] = place_in_order
    return bars


def _write_sharded(rank: int, folder: Path) -> None:
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=RANKS)
    lines = sharded(folder, rank, init_device_mesh("cpu", (RANKS,)))
    if rank == 0:
        SHARDED.write_text("\n".join(lines) + "\n")
    dist.destroy_process_group()


def main() -> None:
    """Make everything anew."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_weights(folder)
        STREAMED.write_text("\n".join(streamed(folder)) + "\n")
        torch.multiprocessing.spawn(_write_sharded, (folder,), nprocs=RANKS)
    PICTURE.write_text(to_svg(*(path.read_text().splitlines() for path in (STREAMED, SHARDED))))


if __name__ == "__main__":
    main()
