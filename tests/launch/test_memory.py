import os
import subprocess
import sys

from avatar_cli.launch.memory import MemorySampler, descendants, pss

HOLD = "import sys; held = bytearray(b'x') * 80_000_000; print('ready', flush=True); sys.stdin.read()"
# a child that is not ours: its parent is between
GRANDCHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HOLD!r}])"


def test_memory_of_a_grandchild_counts():
    before = pss(descendants(os.getpid()))
    with subprocess.Popen(
        [sys.executable, "-c", GRANDCHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        child.stdout.readline()
        assert pss(descendants(os.getpid())) - before > 70e6
        child.stdin.close()
    assert child.pid not in descendants(os.getpid())


def test_a_process_that_has_ended_counts_nothing():
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert pss([child.pid]) == 0


def test_the_sampler_keeps_the_peak_and_its_own_pace():
    sampler = MemorySampler(os.getpid())
    sampler.tick()
    sampler.tick()
    assert sampler.samples == 1
    assert sampler.peak == sampler.last > 5e6
