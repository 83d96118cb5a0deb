import signal
import subprocess
import sys
import time

import pytest

from avatar_cli.launch import ranks_seen
from avatar_cli.launch.ranks_seen import STOPPED_TIME, RanksSeen
from avatar_cli.protocol.events import Failed, Interval, RankStarted, StageStarted


@pytest.fixture
def clock(monkeypatch):
    """The parent's clock, to be set."""
    times = [100.0]
    monkeypatch.setattr(ranks_seen, "now", lambda: times[-1])
    return times


@pytest.fixture
def process():
    """A process that can be stopped."""
    process = subprocess.Popen([sys.executable, "-c", "print(flush=True); input()"], stdin=-1, stdout=-1)
    process.stdout.readline()
    yield process
    process.kill()
    process.communicate()


def stop(process):
    process.send_signal(signal.SIGSTOP)
    while ranks_seen._state(process.pid) != "T":
        time.sleep(0.001)


def look(seen, clock, seconds, step=1.0):
    """Look for stopped ranks every `step` seconds; returns what was found last."""
    for _ in range(round(seconds / step)):
        clock.append(clock[-1] + step)
        found = seen.stopped()
    return found


def test_a_stopped_rank_is_found_after_a_while_with_its_place(clock, process):
    seen = RanksSeen()
    seen.event(RankStarted(1, process.pid, 0.0, {}))
    seen.event(StageStarted("a2v", "I3", 1, "MainThread", 0.0))
    assert look(seen, clock, 2 * STOPPED_TIME) == []
    stop(process)
    assert look(seen, clock, STOPPED_TIME) == []
    (failure,) = look(seen, clock, 2.0)
    assert (failure.rank, failure.stage, failure.chunk) == (1, "a2v", "I3")
    assert failure.message.startswith(f"Rank 1 (process {process.pid}) was stopped by a signal")


def test_a_rank_that_goes_on_in_time_is_left_alone(clock, process):
    seen = RanksSeen()
    seen.event(RankStarted(0, process.pid, 0.0, {}))
    for _ in range(2):
        stop(process)
        assert look(seen, clock, STOPPED_TIME) == []
        process.send_signal(signal.SIGCONT)
        while ranks_seen._state(process.pid) == "T":
            time.sleep(0.001)
        assert look(seen, clock, 1.0) == []


def test_a_time_in_which_the_parent_did_not_run_either_does_not_count(clock, process):
    seen = RanksSeen()
    seen.event(RankStarted(0, process.pid, 0.0, {}))
    stop(process)
    look(seen, clock, STOPPED_TIME)
    assert look(seen, clock, 60.0, step=60.0) == []
    assert look(seen, clock, STOPPED_TIME) == []
    assert look(seen, clock, 2.0) != []


def test_a_rank_that_has_ended_is_not_stopped(clock, process):
    seen = RanksSeen()
    seen.event(RankStarted(0, process.pid, 0.0, {}))
    process.kill()
    process.wait()
    assert look(seen, clock, 3 * STOPPED_TIME) == []


def test_a_failure_without_a_place_gets_the_one_of_the_compute_thread():
    seen = RanksSeen()
    seen.event(StageStarted("a2v", "N1", 0, "MainThread", 0.0))
    seen.event(StageStarted("decode", "N0", 0, "decode", 0.0))
    nowhere = Failed(5, "killed", 0, "", "", 1.0, "")
    assert seen.placed(nowhere).stage == "a2v"
    seen.event(Interval("a2v", 0.0, 1.0, 0, "MainThread", "N1"))
    assert (seen.placed(nowhere).stage, seen.placed(nowhere).chunk) == ("decode", "N0")
    own = Failed(5, "full", 0, "sr", "N0", 1.0, "")
    assert seen.placed(own) is own
