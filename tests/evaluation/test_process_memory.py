import subprocess
import sys
import time

import pytest

from avatar_cli.evaluation.process_memory import JobMark, PssSamples, job_pss, process_pss

MEBIBYTE = 2**20
ALLOCATES = """
import sys, time
block = bytearray({size})
block[::4096] = b"x" * len(block[::4096])
print("ready", flush=True)
sys.stdin.read()
"""
# A parent that ends at once: its child goes to another parent, in a session of its own.
ORPHANS = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", sys.argv[1]], start_new_session=True)
"""


def start(code, mark, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env=mark.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def wait_until_ready(process):
    assert process.stdout.readline() == b"ready\n"


def test_an_allocation_is_seen_in_full():
    mark = JobMark.new()
    with (
        start(ALLOCATES.format(size=1), mark) as small,
        start(ALLOCATES.format(size=64 * MEBIBYTE), mark) as large,
    ):
        wait_until_ready(small)
        wait_until_ready(large)
        pss = job_pss(mark)

        assert set(pss) == {small.pid, large.pid}
        assert (pss[large.pid] - pss[small.pid]) / MEBIBYTE == pytest.approx(64, abs=1)
        small.communicate()
        large.communicate()
    assert process_pss(large.pid) == 0


def test_a_process_whose_parent_has_ended_still_counts():
    mark = JobMark.new()
    with start(ORPHANS, mark, ALLOCATES.format(size=32 * MEBIBYTE)) as parent:
        wait_until_ready(parent)
        parent.stdin.flush()
        deadline = time.monotonic() + 5
        while parent.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)

        pss = job_pss(mark)

        assert parent.pid not in pss
        assert len(pss) == 1
        assert sum(pss.values()) > 32 * MEBIBYTE
        parent.stdin.close()


def test_other_jobs_do_not_count():
    with start(ALLOCATES.format(size=1), JobMark.new()) as process:
        wait_until_ready(process)

        assert job_pss(JobMark.new()) == {}
        process.communicate()


def test_samples_follow_the_job():
    mark = JobMark.new()
    with start(ALLOCATES.format(size=48 * MEBIBYTE), mark) as process:
        wait_until_ready(process)
        samples = PssSamples(mark)
        time.sleep(0.8)
        process.communicate()
        time.sleep(0.6)
        taken = samples.stop()

    assert max(taken) > 48 * MEBIBYTE
    assert taken[-1] == 0
