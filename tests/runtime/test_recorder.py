import subprocess
import sys
import threading

import pytest

from avatar_cli.protocol.events import Event, Interval, Memory, now
from avatar_cli.runtime.recorder import interval, memory_peaks


def test_an_interval_names_its_work_and_surrounds_it():
    events: list[Event] = []

    def work() -> None:
        with interval(events.append, "a2v", "I3", rank=1):
            moments.append(now())

    moments: list[float] = []
    thread = threading.Thread(target=work, name="compute")
    thread.start()
    thread.join()
    (event,) = events
    assert isinstance(event, Interval)
    assert (event.name, event.chunk, event.rank, event.thread) == ("a2v", "I3", 1, "compute")
    assert event.begin <= moments[0] <= event.end


def test_an_interval_that_fails_is_recorded_and_its_error_goes_on():
    events: list[Event] = []
    with pytest.raises(ValueError, match="bad"), interval(events.append, "decode"):
        raise ValueError("bad")
    assert [event.name for event in events if isinstance(event, Interval)] == ["decode"]


def test_host_peak_is_in_bytes_and_grows_with_use():
    script = (
        "from avatar_cli.runtime.recorder import memory_peaks\n"
        "before = memory_peaks(3)\n"
        "block = b'1' * 100_000_000\n"
        "after = memory_peaks(3)\n"
        "print(before.host_peak, after.host_peak, after.device_peak, after.rank)\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    before, after, device, rank = map(int, result.stdout.split())
    assert 5e6 < before < 90e6
    assert 95e6 < after - before < 120e6
    assert (device, rank) == (0, 3)


def test_peaks_are_an_event():
    assert isinstance(memory_peaks(), Memory)
