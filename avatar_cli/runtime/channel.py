"""Bounded queues between the threads of a rank, and the threads that stand between them.

A full channel makes its producer wait, so a slow reader slows the source and memory does not grow. An error
on either side wakes the other side at once.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")


class StageError(Exception):
    """The first error of a worker, with the stage and the chunk it was busy with."""

    def __init__(self, stage: str, chunk: str, error: BaseException) -> None:
        super().__init__(f"{stage} {chunk}: {error}" if chunk else f"{stage}: {error}")
        self.stage = stage
        self.chunk = chunk
        self.error = error


class Channel(Generic[Item]):
    """A queue of at most `capacity` items; iterate over it to read.

    It keeps no reference to an item that was taken. A reader that wants an item to die before it waits for
    the next one must drop its own name for it (`del item`).
    """

    def __init__(self, capacity: int = 1) -> None:
        self._capacity = capacity
        self._items: deque[Item] = deque()
        self._closed = False
        self._error: BaseException | None = None
        self._lock = threading.Lock()
        self._not_full = threading.Condition(self._lock)
        self._not_empty = threading.Condition(self._lock)

    def put(self, item: Item) -> None:
        """Add an item; waits while the channel is full. Raises the error that ended the channel."""
        with self._lock:
            while len(self._items) >= self._capacity and not self._closed and self._error is None:
                self._not_full.wait()
            if self._error is not None:
                raise self._error
            if self._closed:
                raise RuntimeError("put after close")
            self._items.append(item)
            self._not_empty.notify()

    def close(self) -> None:
        """No more items: readers get what is left, then their iteration ends."""
        with self._lock:
            self._closed = True
            self._not_full.notify_all()
            self._not_empty.notify_all()

    def fail(self, error: BaseException) -> None:
        """Drop what is queued, and raise `error` in every present and later `put` and read.

        Only the first error of a channel counts.
        """
        with self._lock:
            if self._error is None:
                self._error = error
            self._items.clear()
            self._not_full.notify_all()
            self._not_empty.notify_all()

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        with self._lock:
            while not self._items and not self._closed and self._error is None:
                self._not_empty.wait()
            if self._error is not None:
                raise self._error
            if not self._items:
                raise StopIteration
            self._not_full.notify()
            return self._items.popleft()


class Worker:
    """A thread that runs one stage; its first error wakes everybody at the channels it works on.

    `run` gets the worker and sets `worker.chunk` to the label of the chunk it is busy with, so that an error
    can name it. An error that came in through a channel is passed on as it is: it names its own origin.
    """

    def __init__(self, stage: str, run: Callable[["Worker"], None], channels: Sequence[Channel]) -> None:
        self.stage = stage
        self.chunk = ""
        self._run = run
        self._channels = channels
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._main, name=stage, daemon=True)

    def start(self) -> "Worker":
        """Start the thread."""
        self._thread.start()
        return self

    def join(self) -> None:
        """Wait for the end. Raises `StageError` for the error this worker met first."""
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _main(self) -> None:
        try:
            self._run(self)
        except StageError as error:
            self._fail(error)
        except BaseException as error:
            failure = StageError(self.stage, self.chunk, error)
            failure.__cause__ = error
            self._fail(failure)

    def _fail(self, error: BaseException) -> None:
        self._error = error
        for channel in self._channels:
            channel.fail(error)
