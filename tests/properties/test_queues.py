"""Bounded queues: order kept, nothing lost or doubled, never more inside than fits, at any pace."""

import os
import random
import threading
import time
from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from avatar_cli.media.pipe_writer import PipeWriter
from avatar_cli.runtime.channel import Channel

PATIENCE = 10.0  # seconds; far above what any wake-up takes


class ChannelAgainstADeque(RuleBasedStateMachine):
    """Any order of calls that cannot wait, against a queue that is plainly right."""

    @initialize(capacity=st.integers(1, 4))
    def open(self, capacity):
        self.channel = Channel(capacity)
        self.capacity = capacity
        self.inside = deque()
        self.next = 0
        self.closed = False
        self.error = None

    @precondition(lambda self: self.closed or self.error or len(self.inside) < self.capacity)
    @rule()
    def put(self):
        if self.error:
            with pytest.raises(type(self.error)):
                self.channel.put(self.next)
        elif self.closed:
            with pytest.raises(RuntimeError):
                self.channel.put(self.next)
        else:
            self.channel.put(self.next)
            self.inside.append(self.next)
            self.next += 1

    @precondition(lambda self: self.closed or self.error or self.inside)
    @rule()
    def take(self):
        if self.error:
            with pytest.raises(type(self.error)):
                next(self.channel)
        elif self.inside:
            assert next(self.channel) == self.inside.popleft()
        else:
            with pytest.raises(StopIteration):
                next(self.channel)

    @rule()
    def close(self):
        self.channel.close()
        self.closed = True

    @precondition(lambda self: self.next > 5)
    @rule(error=st.sampled_from([OSError("broken"), ValueError("wrong")]))
    def fail(self, error):
        self.channel.fail(error)
        self.error = self.error or error
        self.inside.clear()

    @invariant()
    def it_never_holds_more_than_fits(self):
        if hasattr(self, "channel"):
            assert len(self.channel._items) == len(self.inside) <= self.capacity


TestChannelAgainstADeque = ChannelAgainstADeque.TestCase
TestChannelAgainstADeque.settings = settings(max_examples=40, stateful_step_count=30)


class Pauses:
    """Sleeps a moment now and then, the same way for the same seed."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def __call__(self):
        if self._random.random() < 0.2:
            time.sleep(self._random.random() * 5e-4)


def run_all(*targets):
    threads = [threading.Thread(target=target, daemon=True) for target in targets]
    for thread in threads:
        thread.start()
    return threads


def assert_ended(threads):
    for thread in threads:
        thread.join(PATIENCE)
    assert not [thread for thread in threads if thread.is_alive()]


@settings(max_examples=25)
@given(
    capacity=st.integers(1, 3),
    producers=st.integers(1, 3),
    readers=st.integers(1, 3),
    each=st.integers(0, 40),
    seed=st.integers(0, 10**6),
)
def test_threads_of_any_pace_lose_and_double_nothing(capacity, producers, readers, each, seed):
    channel = Channel(capacity)
    taken = [[] for _ in range(readers)]
    most = []

    def produce(name):
        pause = Pauses(seed + name)
        for item in range(each):
            channel.put((name, item))
            most.append(len(channel._items))
            pause()

    def read(place):
        pause = Pauses(seed - place - 1)
        for item in channel:
            taken[place].append(item)
            pause()

    reading = run_all(*(lambda place=place: read(place) for place in range(readers)))
    assert_ended(run_all(*(lambda name=name: produce(name) for name in range(producers))))
    channel.close()
    assert_ended(reading)
    assert max(most, default=0) <= capacity
    everything = sorted(item for mine in taken for item in mine)
    assert everything == [(name, item) for name in range(producers) for item in range(each)]
    for mine in taken:
        for name in range(producers):
            own = [item for producer, item in mine if producer == name]
            assert own == sorted(own)


@settings(max_examples=25)
@given(
    sizes=st.lists(st.integers(1, 200_000), max_size=8),
    capacity=st.integers(1, 3),
    read_size=st.integers(2000, 300_000),
    seed=st.integers(0, 10**6),
)
def test_a_pipe_carries_every_byte_in_order_to_a_reader_of_any_pace(sizes, capacity, read_size, seed):
    content = random.Random(seed).randbytes(sum(sizes))
    read_end, write_end = os.pipe()
    writer = PipeWriter(write_end, "test", capacity)
    received, most = [], []

    def read():
        pause = Pauses(seed)
        with os.fdopen(read_end, "rb", buffering=0) as pipe:
            while data := pipe.read(read_size):
                received.append(data)
                pause()

    reading = run_all(read)
    start = 0
    for size in sizes:
        assert writer.put(memoryview(content)[start : start + size])
        most.append(len(writer._pieces))
        start += size
    writer.end()
    assert not writer.put(memoryview(b"too late"))
    writer.join()
    assert_ended(reading)
    assert b"".join(received) == content
    assert max(most, default=0) <= capacity
    assert not writer.broken


@settings(max_examples=15)
@given(until=st.integers(0, 2_000_000), capacity=st.integers(1, 3))
def test_a_writer_whose_reader_leaves_is_told_and_never_waits(until, capacity):
    read_end, write_end = os.pipe()
    writer = PipeWriter(write_end, "test", capacity)

    def read_a_little():
        left = until
        while left > 0:
            left -= len(os.read(read_end, left))
        os.close(read_end)

    def write():
        for _ in range(100):
            writer.put(memoryview(bytes(100_000)))

    writing = run_all(write)
    assert_ended([*run_all(read_a_little), *writing])
    writer.end()
    writer.join()
    assert writer.broken
    assert not writer.put(memoryview(b"more"))
