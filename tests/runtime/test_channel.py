import gc
import threading
import time
import weakref
from collections import Counter
from contextlib import suppress

import pytest

from avatar_cli.runtime.channel import Channel, StageError, Worker

# Far above what a wake-up takes on a loaded machine, far below what a lost one would take.
PATIENCE = 10.0


class Payload:
    """Something that a weak reference can point at."""


def in_thread(target) -> threading.Thread:
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread


def finished(thread: threading.Thread) -> bool:
    thread.join(PATIENCE)
    return not thread.is_alive()


def test_items_arrive_in_order_and_iteration_ends_on_close():
    channel: Channel[int] = Channel(2)

    def produce() -> None:
        for item in range(100):
            channel.put(item)
        channel.close()

    thread = in_thread(produce)
    assert list(channel) == list(range(100))
    assert finished(thread)


def test_a_full_channel_stops_its_producer():
    channel: Channel[int] = Channel(2)
    made: list[int] = []

    def produce() -> None:
        with suppress(OSError):
            for item in range(10):
                made.append(item)
                channel.put(item)

    thread = in_thread(produce)
    deadline = time.monotonic() + PATIENCE
    while len(made) < 3 and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(0.05)
    assert made == [0, 1, 2]  # two in the channel, one waiting
    assert next(channel) == 0
    channel.fail(OSError("enough"))
    assert finished(thread)
    assert made[:3] == [0, 1, 2]
    assert len(made) <= 4


def test_an_error_wakes_a_waiting_reader():
    channel: Channel[int] = Channel()
    error = OSError("no space left")
    caught: list[BaseException] = []

    def read() -> None:
        try:
            next(channel)
        except OSError as met:
            caught.append(met)

    thread = in_thread(read)
    time.sleep(0.02)
    channel.fail(error)
    assert finished(thread)
    assert caught == [error]


def test_an_error_wakes_a_waiting_producer():
    channel: Channel[int] = Channel()
    channel.put(1)
    caught: list[BaseException] = []

    def write() -> None:
        try:
            channel.put(2)
        except OSError as met:
            caught.append(met)

    thread = in_thread(write)
    time.sleep(0.02)
    channel.fail(OSError("first"))
    channel.fail(OSError("second"))
    assert finished(thread)
    assert [str(met) for met in caught] == ["first"]


def test_an_error_is_not_lost_on_those_who_come_later():
    channel: Channel[int] = Channel()
    channel.put(1)
    channel.fail(OSError("broken"))
    channel.close()
    for _ in range(2):
        with pytest.raises(OSError, match="broken"):
            next(channel)
        with pytest.raises(OSError, match="broken"):
            channel.put(2)


def test_nothing_can_be_put_after_close():
    channel: Channel[int] = Channel()
    channel.put(1)
    channel.close()
    with pytest.raises(RuntimeError, match="put after close"):
        channel.put(2)
    assert list(channel) == [1]


def test_an_item_is_dead_when_its_reader_drops_it_while_producer_and_reader_wait():
    channel: Channel[Payload] = Channel()
    born: list[weakref.ref] = []
    go_on = threading.Event()

    def produce() -> None:
        item = Payload()
        born.append(weakref.ref(item))
        channel.put(item)
        del item
        go_on.wait(PATIENCE)
        channel.close()

    thread = in_thread(produce)
    gc.disable()  # references must go by themselves, not in a cycle
    try:
        for item in channel:
            assert born[0]() is item
            del item
            assert born[0]() is None
            go_on.set()
    finally:
        gc.enable()
    assert finished(thread)


def test_failing_drops_what_is_queued():
    channel: Channel[Payload] = Channel(2)
    item = Payload()
    alive = weakref.ref(item)
    channel.put(item)
    del item
    assert alive() is not None
    channel.fail(OSError("broken"))
    assert alive() is None


def test_many_threads_lose_and_double_nothing():
    channel: Channel[tuple[int, int]] = Channel(2)
    producers, readers, each = 8, 8, 500
    taken: list[list[tuple[int, int]]] = [[] for _ in range(readers)]

    def produce(name: int) -> None:
        for item in range(each):
            channel.put((name, item))

    def read(mine: list[tuple[int, int]]) -> None:
        mine.extend(channel)

    reading = [in_thread(lambda mine=mine: read(mine)) for mine in taken]
    writing = [in_thread(lambda name=name: produce(name)) for name in range(producers)]
    assert all(finished(thread) for thread in writing)
    channel.close()
    assert all(finished(thread) for thread in reading)
    counts = Counter(item for mine in taken for item in mine)
    assert len(counts) == producers * each
    assert set(counts.values()) == {1}
    for mine in taken:  # what one reader gets from one producer is in that producer's order
        for name in range(producers):
            items = [item for producer, item in mine if producer == name]
            assert items == sorted(items)


def test_many_threads_all_hear_of_an_error():
    for _ in range(20):
        channels: list[Channel[int]] = [Channel(1) for _ in range(4)]
        heard: list[str] = []

        def work(channel: Channel[int], write: bool, heard: list[str] = heard) -> None:
            try:
                while True:
                    channel.put(0) if write else next(channel)
            except OSError as error:
                heard.append(str(error))

        threads = [
            in_thread(lambda channel=channel, write=write: work(channel, write))
            for channel in channels
            for write in (True, True, False)
        ]
        for channel in channels:
            channel.fail(OSError("stop"))
        assert all(finished(thread) for thread in threads)
        assert heard == ["stop"] * 12


def test_a_worker_names_stage_and_chunk_of_its_error_and_fails_its_channels():
    source: Channel[str] = Channel()
    sink: Channel[str] = Channel()
    error = ValueError("not a number")

    def run(worker: Worker) -> None:
        for label in source:
            worker.chunk = label
            raise error

    worker = Worker("sr", run, [source, sink]).start()
    source.put("I3")
    with pytest.raises(StageError) as caught:
        worker.join()
    assert (caught.value.stage, caught.value.chunk, caught.value.error) == ("sr", "I3", error)
    assert caught.value.__cause__ is error
    assert str(caught.value) == "sr I3: not a number"
    for channel in (source, sink):
        with pytest.raises(StageError) as again:
            next(channel)
        assert again.value is caught.value


def test_an_error_keeps_its_origin_through_a_chain_of_workers():
    first, second, third = Channel[int](), Channel[int](), Channel[int]()

    def passing(source: Channel[int], sink: Channel[int]):
        def run(worker: Worker) -> None:
            worker.chunk = "N9"
            for item in source:
                sink.put(item)
            sink.close()

        return run

    def broken(worker: Worker) -> None:
        worker.chunk = "N1"
        next(third)
        raise ValueError("broken pipe")

    workers = [
        Worker("context", passing(first, second), [first, second]).start(),
        Worker("a2v", passing(second, third), [second, third]).start(),
        Worker("decode", broken, [third]).start(),
    ]
    with pytest.raises(StageError):
        for item in range(100):
            first.put(item)
    for worker in workers:
        with pytest.raises(StageError) as caught:
            worker.join()
        assert str(caught.value) == "decode N1: broken pipe"


def test_a_worker_that_ends_says_nothing():
    Worker("decode", lambda worker: None, []).start().join()
