"""The chunk plan: which frames are generated together, in which order, and the clean frames each one sees.

N chunks are the main timeline, I chunks the transitions between two neighbouring N chunks. An I chunk needs
both neighbours, so the order of work is N0 N1 I0 N2 I1 N3 I2 ... while frames leave in the order of time,
N0 | I0 N1 | I1 N2 ... Everything here is lazy and works while the end of the speech is not known yet.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from avatar_cli.runtime.span import Span

Value = TypeVar("Value")


class ChunkKind(Enum):
    """Main timeline or transition; the value is the letter of the label."""

    N = "N"
    I = "I"  # noqa: E741 - the name of the thing


class Layout(Enum):
    """How I chunks lie between N chunks."""

    GAPPED = "gapped"  # I_k fills i frames that no N chunk covers
    ADJACENT = "adjacent"  # N chunks touch, and I_k replaces the first i frames of N_{k+1}


class Tail(Enum):
    """What a model can do with clean frames behind the frames it generates."""

    NONE = "none"  # only frames before the chunk can be given: I chunks get no suffix
    SOFT = "soft"  # the suffix is given and approximately met
    EXACT = "exact"  # the suffix is given and met


@dataclass(frozen=True)
class Chunk:
    """One call of the generator.

    The model sees prefix, generated frames and suffix at their true positions. Prefix and suffix are clean;
    what it predicts for them is thrown away.
    """

    kind: ChunkKind
    index: int
    span: Span  # frames this chunk gives to the video
    prefix: Span | None  # clean frames of the N chunk before; None for N0
    suffix: Span | None  # clean frames of the N chunk behind; only I chunks have them
    border: int  # frames at either end of an N chunk that later chunks are given
    replaced: int = 0  # frames generated in front of `span` that an I chunk replaces (adjacent layout)

    @property
    def label(self) -> str:
        """Name for people and events, such as `N0`."""
        return f"{self.kind.value}{self.index}"

    @property
    def generated(self) -> Span:
        """Frames the model makes: `span`, and in front of it those that an I chunk replaces."""
        return Span(self.span.start - self.replaced, self.span.stop)

    @property
    def window(self) -> Span:
        """From the first frame the model sees to the last; includes the gap behind an N chunk's prefix."""
        first = self.generated if self.prefix is None else self.prefix
        last = self.span if self.suffix is None else self.suffix
        return Span(first.start, last.stop)

    @property
    def positions(self) -> tuple[int, ...]:
        """True positions of prefix, generated frames and suffix, counted from the first generated frame."""
        seen = [span for span in (self.prefix, self.generated, self.suffix) if span is not None]
        return tuple(frame - self.generated.start for span in seen for frame in range(span.start, span.stop))


@dataclass(frozen=True)
class ChunkPlan:
    """Lengths in frames, at the family's frame rate.

    Raises ValueError for lengths that no plan can have.
    """

    chunk_frames: int  # n: frames of an N chunk
    interpolated_frames: int  # i: frames of an I chunk; 0 means N chunks only
    border_frames: int  # b: clean frames handed on
    first_chunk_frames: int | None = None  # frames of N0 where a model makes more of them in its first call
    layout: Layout = Layout.GAPPED
    tail: Tail = Tail.EXACT

    def __post_init__(self) -> None:
        if self.chunk_frames < 1:
            raise ValueError(f"an N chunk needs at least one frame, not {self.chunk_frames}")
        if self.interpolated_frames < 0:
            raise ValueError(f"an I chunk cannot have {self.interpolated_frames} frames")
        if not 0 <= self.border_frames <= self.chunk_frames:
            raise ValueError(
                f"the border must have between 0 and {self.chunk_frames} frames, the length of an N chunk, "
                f"not {self.border_frames}"
            )
        if self.first_chunk_frames is not None and self.first_chunk_frames < self.border_frames:
            raise ValueError(
                f"the first chunk ({self.first_chunk_frames} frames) must be at least as long as the border "
                f"({self.border_frames} frames)"
            )
        if self.interpolated_frames and not self.border_frames:
            raise ValueError("I chunks need a border, because it is what they join N chunks by")
        overlap = self.interpolated_frames + self.border_frames
        if self.layout is Layout.ADJACENT and self.interpolated_frames and overlap > self.chunk_frames:
            raise ValueError(
                f"{self.interpolated_frames} interpolated frames and a border of {self.border_frames} do not "
                f"fit into an N chunk of {self.chunk_frames} frames"
            )

    def n_chunk(self, index: int) -> Chunk:
        """N chunk `index`."""
        first = self.chunk_frames if self.first_chunk_frames is None else self.first_chunk_frames
        if index == 0:
            return Chunk(ChunkKind.N, 0, Span(0, first), None, None, self.border_frames)
        gap = self.interpolated_frames if self.layout is Layout.GAPPED else 0
        replaced = self.interpolated_frames if self.layout is Layout.ADJACENT else 0
        start = first + gap + (index - 1) * (self.chunk_frames + gap)
        border_stop = start - gap
        return Chunk(
            kind=ChunkKind.N,
            index=index,
            span=Span(start + replaced, start + self.chunk_frames),
            prefix=self._border(border_stop - self.border_frames, border_stop),
            suffix=None,
            border=self.border_frames,
            replaced=replaced,
        )

    def i_chunk(self, index: int) -> Chunk:
        """I chunk `index`, between N chunks `index` and `index` + 1."""
        start = self.n_chunk(index).span.stop
        stop = self.n_chunk(index + 1).span.start
        suffix = None if self.tail is Tail.NONE else self._border(stop, stop + self.border_frames)
        return Chunk(
            kind=ChunkKind.I,
            index=index,
            span=Span(start, stop),
            prefix=self._border(start - self.border_frames, start),
            suffix=suffix,
            border=self.border_frames,
        )

    def work_order(self, has_frame: Callable[[int], bool]) -> Iterator[Chunk]:
        """Chunks in the order N0 N1 I0 N2 I1 ..., each looked for only when it is asked for.

        `has_frame(k)` says whether frame k exists; it may wait until that is known. It is asked once a round,
        for the first frame behind the last N chunk. The last N chunk is always whole, so the caller trims
        what lies past the end.
        """
        if not has_frame(0):
            return
        chunk = self.n_chunk(0)
        yield chunk
        while has_frame(chunk.span.stop):
            previous, chunk = chunk, self.n_chunk(chunk.index + 1)
            yield chunk
            if self.interpolated_frames:
                yield self.i_chunk(previous.index)

    def _border(self, start: int, stop: int) -> Span | None:
        return Span(start, stop) if self.border_frames else None


def frames_needed(chunk: Chunk, look_ahead: int) -> int:
    """Frames of speech, counted from the beginning, that must be known before `chunk` can be generated.

    `look_ahead` is the number of frames by which the model's audio features look into the future.
    """
    return chunk.window.stop + look_ahead


class Reorder(Generic[Value]):
    """Brings values from the order of work into the order of time; holds at most two.

    `next_frame` is the first frame that is not handed out yet; a resumed job begins with a later one. A
    value is forgotten as soon as it is handed out.
    """

    def __init__(self, next_frame: int = 0) -> None:
        self.next_frame = next_frame
        self._held: dict[int, tuple[Chunk, Value]] = {}

    def push(self, chunk: Chunk, value: Value) -> Iterator[tuple[Chunk, Value]]:
        """Take one value; iterate over those whose turn it is. What is not fetched comes next time."""
        self._held[chunk.span.start] = (chunk, value)
        return self._ready()

    def __len__(self) -> int:
        return len(self._held)

    def _ready(self) -> Iterator[tuple[Chunk, Value]]:
        while self.next_frame in self._held:
            start = self.next_frame
            self.next_frame = self._held[start][0].span.stop
            yield self._held.pop(start)
