"""The bench itself: the same networks placed in several ways take turns in the real pipeline.

Every figure of a placement stands beside that of all networks resident, measured in the same process in
alternation, so that what a machine does besides falls on both.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch

from avatar_cli.evaluation.runtime_bench import measures
from avatar_cli.evaluation.runtime_bench.intervals import gaps, merged, middle, share_under
from avatar_cli.evaluation.runtime_bench.loop import ChunkLoop, Part, Peers
from avatar_cli.evaluation.runtime_bench.results import Overhead, Placed, Results, Setting
from avatar_cli.evaluation.runtime_bench.switches import Pair, chunk_times, compared, switch_times
from avatar_cli.evaluation.runtime_bench.trace import Activity, Recorder, traced
from avatar_cli.families.synthetic.modules import write_modules
from avatar_cli.families.synthetic.size_file import parameters
from avatar_cli.families.synthetic.sizes import SyntheticSize
from avatar_cli.families.synthetic.token_plan import token_degree
from avatar_cli.protocol.errors import EnvironmentProblem
from avatar_cli.protocol.events import Event
from avatar_cli.runtime.memory_budget import Keep
from avatar_cli.runtime.mesh import compute_device, current_rank, open_mesh, open_sequence_group
from avatar_cli.runtime.residency.choice import Placement
from avatar_cli.runtime.residency.host_copies import HostCopies
from avatar_cli.worker.peers import Meeting

_TRACED_CHUNKS = 3
_SR = "sr_dit"

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """What to run. `chunks` is the length of the longest loop, `turn` of those that take turns."""

    size: SyntheticSize
    keeps: tuple[Keep, ...] = (Keep.HOLD, Keep.STREAM)
    rounds: int = 3
    turn: int = 5
    chunks: int = 100
    ranks: int = 1
    weights: Path | None = None  # folder of sharded checkpoints, written where it is empty
    profile: Path | None = None


@dataclass
class _Times:
    """Of one placement, over all rounds."""

    switches: dict[Pair, list[float]] = field(default_factory=lambda: defaultdict(list))
    chunks: list[float] = field(default_factory=list)

    def chunk_seconds(self) -> float:
        """The median."""
        seconds = middle(self.chunks)
        assert seconds is not None
        return seconds


def bench(request: Request, tell: Tell) -> Results:
    """Run everything; several ranks call this alike, with the process group open. Raises AvatarError."""
    bencher = _Bencher(request, tell)
    with torch.no_grad():
        try:
            return bencher.run()
        except torch.cuda.OutOfMemoryError as error:
            raise EnvironmentProblem(
                f"The networks of {request.size.name} in all placements at once are more than the GPU holds: "
                "give one --keep, or a smaller --size."
            ) from error


class _Bencher:
    def __init__(self, request: Request, tell: Tell) -> None:
        self._request = request
        self._tell = tell
        self._device = compute_device()
        self._rank = current_rank()
        self._mesh = open_mesh(request.ranks)
        self._peers = Peers(
            Meeting(self._rank, request.ranks),
            open_sequence_group(request.ranks, token_degree(request.size, request.ranks)),
        )
        self._on_gpu = self._device.type == "cuda"

    def run(self) -> Results:
        request = self._request
        if request.weights is not None and self._rank == 0 and not any(request.weights.glob("*")):
            self._tell(f"writing the weights to {request.weights}")
            write_modules(request.size, request.weights)
        self._peers.meeting.wait_for_everybody()
        placements = (Keep.RESIDENT, *request.keeps)
        self._tell(f"loading {request.size.name}, {len(placements)} times")
        loops = {keep: self._loop(keep) for keep in placements}
        times = self._take_turns(loops)
        found = self._overhead(loops[Keep.RESIDENT])
        for keep in placements[:-1]:
            loops[keep].close()
        self._tell(f"a loop of {request.chunks} chunks, {placements[-1].value}")
        peaks = measures.peaks_of(loops[placements[-1]], request.chunks, self._device)
        loops[placements[-1]].close()
        return Results(
            setting=self._setting(),
            placed=tuple(self._placed(keep, times) for keep in request.keeps),
            plain_copy_rate=measures.plain_copy_rate(self._device),
            peaks=peaks,
            overhead=found,
        )

    def _loop(self, keep: Keep, recorder: Recorder | None = None) -> ChunkLoop:
        emit = recorder or _ignore
        engine = None
        if not self._on_gpu and self._mesh is None and keep is not Keep.RESIDENT:
            engine = HostCopies(emit if recorder else None)
        placement = Placement(
            device=self._device,
            rank=self._rank,
            mesh=self._mesh,
            keep=keep,
            engine=engine,
            trace_blocks=recorder is not None,
        )
        loop = ChunkLoop(self._request.size, placement, emit, self._request.weights, self._peers)
        self._peers.meeting.wait_for_everybody()
        return loop

    def _take_turns(self, loops: dict[Keep, ChunkLoop]) -> dict[Keep, _Times]:
        times = {keep: _Times() for keep in loops}
        for loop in loops.values():
            loop.run(Part(2, decode=self._decodes))  # warm-up
        for number in range(self._request.rounds):
            self._tell(f"round {number + 1} of {self._request.rounds}")
            for keep, loop in loops.items():
                # Decoding runs beside the next chunk and would blur the moments of a switch.
                calls = loop.run(Part(self._request.turn, decode=False))
                for pair, seconds in switch_times(calls, loop.clock).items():
                    times[keep].switches[pair] += seconds
                calls = loop.run(Part(self._request.turn, decode=self._decodes))
                times[keep].chunks += chunk_times(calls, _SR, loop.clock)
        return times

    @property
    def _decodes(self) -> bool:
        """Only the rank that publishes decodes."""
        return self._rank == 0

    def _overhead(self, loop: ChunkLoop) -> Overhead | None:
        if self._mesh is not None:
            return None
        self._tell("the bare networks in a loop")
        request = self._request
        return measures.overhead(loop, request.size, self._device, request.turn, 2 * request.rounds)

    def _placed(self, keep: Keep, times: dict[Keep, _Times]) -> Placed:
        self._tell(f"a traced loop, {keep.value}")
        activity = self._trace(keep)
        compute = merged(activity.compute)
        idle = gaps(compute)
        return Placed(
            keep=keep.value,
            chunk_seconds=times[keep].chunk_seconds(),
            resident_chunk_seconds=times[Keep.RESIDENT].chunk_seconds(),
            switches=compared(times[keep].switches, times[Keep.RESIDENT].switches),
            hidden_copies=share_under(activity.copies, activity.compute),
            hidden_gathers=share_under(activity.gathers, activity.compute),
            copy_rate=self._copy_rate(activity),
            idle_share=sum(idle) / (compute[-1][1] - compute[0][0]),
            longest_gap=max(idle, default=0.0),
        )

    def _trace(self, keep: Keep) -> Activity:
        recorder = Recorder()
        loop = self._loop(keep, recorder)
        loop.watch_blocks(recorder)
        loop.run(Part(1, decode=self._decodes))
        recorder.intervals.clear()
        profile = self._request.profile if keep is self._request.keeps[-1] and self._rank == 0 else None
        run = Part(_TRACED_CHUNKS, decode=self._decodes)
        activity = traced(lambda: loop.run(run), recorder, self._on_gpu, profile)
        loop.close()
        return activity

    def _copy_rate(self, activity: Activity) -> float | None:
        sizes = measures.part_bytes(self._request.size)
        seconds = sum(duration for _, duration in activity.copied)
        return sum(sizes[part] for part, _ in activity.copied) / seconds if seconds else None

    def _setting(self) -> Setting:
        request = self._request
        return Setting(
            device=torch.cuda.get_device_name(self._device) if self._on_gpu else "CPU",
            on_gpu=self._on_gpu,
            ranks=request.ranks,
            threads=torch.get_num_threads(),
            torch=torch.__version__,
            size=request.size.name,
            dtype=str(request.size.dtype).removeprefix("torch."),
            parameters=parameters(request.size),
        )


def _ignore(event: Event) -> None:
    pass
