import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from avatar_cli.runtime.chunks import Chunk, ChunkKind, ChunkPlan, Layout, Reorder, Tail, frames_needed
from avatar_cli.runtime.span import Span


@dataclass
class Recording:
    """`length` frames; remembers the furthest frame that was asked for."""

    length: int
    asked: list[int] = field(default_factory=list)

    def has_frame(self, frame: int) -> bool:
        self.asked.append(frame)
        return frame < self.length


@st.composite
def plans(draw: Callable) -> ChunkPlan:
    layout = draw(st.sampled_from(Layout))
    chunk_frames = draw(st.integers(1, 20))
    border_frames = draw(st.integers(0, chunk_frames))
    longest_transition = chunk_frames - border_frames if layout is Layout.ADJACENT else 15
    if border_frames == 0:
        longest_transition = 0
    return ChunkPlan(
        chunk_frames=chunk_frames,
        interpolated_frames=draw(st.integers(0, longest_transition)),
        border_frames=border_frames,
        first_chunk_frames=draw(st.none() | st.integers(max(border_frames, 1), 25)),
        layout=layout,
        tail=draw(st.sampled_from(Tail)),
    )


def frames_of(span: Span | None) -> set[int]:
    return set(range(span.start, span.stop)) if span else set()


@given(plans(), st.integers(0, 150))
def test_every_frame_is_emitted_once_and_in_order(plan: ChunkPlan, length: int):
    emitted: list[int] = []
    reorder: Reorder[str] = Reorder()
    most_held = 0
    for chunk in plan.work_order(Recording(length).has_frame):
        ready = reorder.push(chunk, chunk.label)
        most_held = max(most_held, len(reorder))
        for done, label in ready:
            assert label == done.label
            emitted += range(done.span.start, done.span.stop)
    assert len(reorder) == 0
    assert most_held <= 2
    assert emitted == list(range(len(emitted)))
    assert len(emitted) >= length


@given(plans(), st.integers(0, 150))
def test_anchors_were_generated_before_they_are_needed_and_keep_their_distance(plan: ChunkPlan, length: int):
    generated: dict[int, str] = {}
    for chunk in plan.work_order(Recording(length).has_frame):
        for anchor in (chunk.prefix, chunk.suffix):
            assert all(generated[frame].startswith("N") for frame in frames_of(anchor))
            assert len(frames_of(anchor)) in (0, plan.border_frames)
        if chunk.kind is ChunkKind.N and chunk.prefix:
            distance = plan.interpolated_frames if plan.layout is Layout.GAPPED else 0
            assert chunk.prefix.stop == chunk.generated.start - distance
        if chunk.kind is ChunkKind.I and chunk.prefix:
            assert chunk.prefix.stop == chunk.span.start
            assert (chunk.suffix is None) == (plan.tail is Tail.NONE)
            assert chunk.suffix is None or chunk.suffix.start == chunk.span.stop
        if chunk.index:
            assert (chunk.prefix is None) == (plan.border_frames == 0)
        generated |= dict.fromkeys(range(chunk.generated.start, chunk.generated.stop), chunk.label)


@given(plans(), st.integers(0, 150))
def test_a_transition_is_made_as_soon_as_the_chunks_on_both_sides_are_and_never_before(
    plan: ChunkPlan, length: int
):
    labels = [chunk.label for chunk in plan.work_order(Recording(length).has_frame)]
    last = sum(label.startswith("N") for label in labels)
    rounds = [[f"N{k}", f"I{k - 1}"] if k and plan.interpolated_frames else [f"N{k}"] for k in range(last)]
    assert labels == [label for names in rounds for label in names]


@given(plans(), st.integers(0, 150))
def test_positions_are_the_true_distances_from_the_first_generated_frame(plan: ChunkPlan, length: int):
    for chunk in plan.work_order(Recording(length).has_frame):
        first = chunk.generated.start
        seen = sorted(frames_of(chunk.prefix) | frames_of(chunk.generated) | frames_of(chunk.suffix))
        assert chunk.positions == tuple(frame - first for frame in seen)
        assert (chunk.window.start, chunk.window.stop) == (seen[0], seen[-1] + 1)
        if chunk.kind is ChunkKind.N and chunk.index:
            i = plan.interpolated_frames if plan.layout is Layout.GAPPED else 0
            assert chunk.positions[: plan.border_frames] == tuple(range(-i - plan.border_frames, -i))


@given(plans(), st.integers(0, 150))
def test_no_chunk_looks_back_behind_the_window_of_the_one_before_it(plan: ChunkPlan, length: int):
    """The conditioner forgets sound by this rule."""
    starts = [chunk.window.start for chunk in plan.work_order(Recording(length).has_frame)]
    assert starts == sorted(starts)


@given(plans(), st.integers(0, 150), st.data())
def test_reorder_hands_on_later_what_its_reader_leaves_behind(
    plan: ChunkPlan, length: int, data: st.DataObject
):
    reorder: Reorder[str] = Reorder()
    taken: list[str] = []
    work = list(plan.work_order(Recording(length).has_frame))
    for chunk in work:
        ready = reorder.push(chunk, chunk.label)
        taken += [label for _, label in islice(ready, data.draw(st.integers(0, 3)))]
    assert len(taken) + len(reorder) == len(work)
    if work:
        again = reorder.push(plan.n_chunk(10_000), "far away")  # never in turn: only fetches what is left
        taken += [label for _, label in again]
        assert len(reorder) == 1
    in_time = sorted(work, key=lambda chunk: chunk.span.start)
    assert taken == [chunk.label for chunk in in_time]


@given(plans(), st.integers(1, 150))
def test_nothing_is_asked_or_generated_further_than_needed(plan: ChunkPlan, length: int):
    recording = Recording(length)
    chunks = list(plan.work_order(recording.has_frame))
    last_n = max((chunk for chunk in chunks if chunk.kind is ChunkKind.N), key=lambda chunk: chunk.index)
    transitions = [chunk for chunk in chunks if chunk.kind is ChunkKind.I]
    assert len(transitions) == (last_n.index if plan.interpolated_frames else 0)
    # The frame right behind the last but one N chunk exists, that behind the last one does not.
    assert last_n.index == 0 or plan.n_chunk(last_n.index - 1).span.stop < length
    assert recording.asked == [0, *(plan.n_chunk(index).span.stop for index in range(last_n.index + 1))]


@given(plans(), st.integers(1, 100), st.integers(1, 100))
def test_chunks_that_both_lengths_have_are_equal(plan: ChunkPlan, one: int, other: int):
    shorter, longer = sorted((one, other))
    first = list(plan.work_order(Recording(shorter).has_frame))
    assert list(plan.work_order(Recording(longer).has_frame))[: len(first)] == first


def test_chunks_are_looked_for_only_when_asked_for():
    recording = Recording(1000)
    work = ChunkPlan(48, 10, 6).work_order(recording.has_frame)
    assert recording.asked == []
    assert [next(work).label for _ in range(3)] == ["N0", "N1", "I0"]
    assert recording.asked == [0, 48]


def test_order_of_work_and_of_emission():
    reorder: Reorder[None] = Reorder()
    work, emission = [], []
    for chunk in ChunkPlan(48, 10, 6).work_order(Recording(160).has_frame):
        work.append(chunk.label)
        emission.append([done.label for done, _ in reorder.push(chunk, None)])
    assert work == ["N0", "N1", "I0", "N2", "I1"]
    assert emission == [["N0"], [], ["I0", "N1"], [], ["I1", "N2"]]


def test_borders_of_the_portrait_plan():
    plan = ChunkPlan(48, 10, 6)
    assert plan.n_chunk(1) == Chunk(ChunkKind.N, 1, Span(58, 106), Span(42, 48), None, 6)
    assert plan.i_chunk(0) == Chunk(ChunkKind.I, 0, Span(48, 58), Span(42, 48), Span(58, 64), 6)
    assert plan.n_chunk(1).positions == (*range(-16, -10), *range(48))
    assert plan.i_chunk(0).positions == (*range(-6, 16),)
    assert plan.n_chunk(1).window == Span(42, 106)


def test_adjacent_chunks_touch_and_transitions_replace_their_first_frames():
    plan = ChunkPlan(80, 20, 13, first_chunk_frames=93, layout=Layout.ADJACENT)
    n1 = plan.n_chunk(1)
    assert (n1.generated, n1.span, n1.prefix) == (Span(93, 173), Span(113, 173), Span(80, 93))
    assert plan.n_chunk(2).generated == Span(173, 253)
    i0 = plan.i_chunk(0)
    assert (i0.span, i0.prefix, i0.suffix) == (Span(93, 113), Span(80, 93), Span(113, 126))


def test_a_chunk_needs_the_sound_up_to_its_last_anchor_and_the_look_ahead():
    plan = ChunkPlan(48, 10, 6)
    assert frames_needed(plan.n_chunk(0), look_ahead=8) == 56
    assert frames_needed(plan.i_chunk(0), look_ahead=8) == 72
    assert frames_needed(ChunkPlan(48, 10, 6, tail=Tail.NONE).i_chunk(0), look_ahead=8) == 66


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"chunk_frames": 0}, "at least one frame"),
        ({"interpolated_frames": -1}, "-1 frames"),
        ({"border_frames": 49}, "between 0 and 48"),
        ({"border_frames": -1}, "between 0 and 48"),
        ({"first_chunk_frames": 5}, "at least as long as the border"),
        ({"border_frames": 0}, "need a border"),
        ({"layout": Layout.ADJACENT, "interpolated_frames": 43}, "do not fit into an N chunk of 48"),
    ],
)
def test_impossible_plans_are_refused(arguments: dict, words: str):
    valid = {"chunk_frames": 48, "interpolated_frames": 10, "border_frames": 6}
    with pytest.raises(ValueError, match=words):
        ChunkPlan(**{**valid, **arguments})


def test_reorder_forgets_a_value_when_it_is_handed_out():
    class Value:
        pass

    plan = ChunkPlan(4, 2, 1)
    reorder: Reorder[Value] = Reorder()
    value = Value()
    alive = weakref.ref(value)
    ready = reorder.push(plan.n_chunk(0), value)
    del value
    assert alive() is not None
    for _, taken in ready:
        del taken, _
        assert alive() is None


def test_reorder_goes_on_where_a_resumed_job_begins():
    plan = ChunkPlan(4, 2, 1)
    reorder: Reorder[None] = Reorder(next_frame=plan.n_chunk(1).span.stop)
    assert list(reorder.push(plan.n_chunk(2), None)) == []
    assert [chunk.label for chunk, _ in reorder.push(plan.i_chunk(1), None)] == ["I1", "N2"]
    assert reorder.next_frame == plan.n_chunk(2).span.stop
