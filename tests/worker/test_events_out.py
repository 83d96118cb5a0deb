import os
import threading

from avatar_cli.protocol.events import Instant, Warned, from_line
from avatar_cli.worker.events_out import EventWriter


def test_long_lines_of_several_threads_do_not_mix():
    read_end, write_end = os.pipe()
    writer = EventWriter(write_end)
    texts = [letter * 200_000 for letter in "abcd"]  # longer than the pipe
    threads = [threading.Thread(target=writer, args=(Warned(text),)) for text in texts]
    for thread in threads:
        thread.start()
    closer = threading.Thread(target=lambda: ([t.join() for t in threads], writer.close()))
    closer.start()
    with os.fdopen(read_end) as lines:
        messages = [from_line(line).message for line in lines]
    assert sorted(messages) == texts


def test_a_parent_that_is_gone_neither_blocks_nor_breaks_the_job():
    read_end, write_end = os.pipe()
    os.close(read_end)
    writer = EventWriter(write_end)
    for _ in range(3):
        writer(Warned("x" * 200_000))
    writer.close()


def test_events_after_the_end_are_dropped():
    read_end, write_end = os.pipe()
    writer = EventWriter(write_end)
    writer(Instant("first_frame", 1.5, 0))
    writer.close()
    writer(Instant("first_packet", 2.5, 0))
    with os.fdopen(read_end) as lines:
        assert [from_line(line) for line in lines] == [Instant("first_frame", 1.5, 0)]
