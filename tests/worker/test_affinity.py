import os
import subprocess
import sys

import pytest

from avatar_cli.worker.affinity import Binding, bind_to_gpu, parse_cpu_list

GPU = "0000:3b:00.0"


@pytest.fixture
def machine(tmp_path):
    """A made-up /sys with one GPU on a NUMA node."""

    def build(node, cpus):
        (tmp_path / "devices" / GPU).mkdir(parents=True)
        (tmp_path / "devices" / GPU / "numa_node").write_text(f"{node}\n")
        (tmp_path / "nodes" / f"node{node}").mkdir(parents=True)
        (tmp_path / "nodes" / f"node{node}" / "cpulist").write_text(f"{cpus}\n")
        return tmp_path / "devices", tmp_path / "nodes"

    return build


def test_the_kernels_spelling_of_processors():
    assert parse_cpu_list("0-2,8,10-11\n") == {0, 1, 2, 8, 10, 11}
    assert parse_cpu_list("5") == {5}


def test_a_process_is_restricted_to_the_gpus_node_with_all_its_threads(machine):
    first = min(os.sched_getaffinity(0))
    devices, nodes = machine(1, f"{first},9999")
    script = (
        "import os, sys, threading; from pathlib import Path; from avatar_cli.worker.affinity import *\n"
        "other = threading.Thread(target=threading.Event().wait, daemon=True); other.start()\n"
        "bound = bind_to_gpu(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))\n"
        "print(bound, *(os.sched_getaffinity(thread) for thread in (0, other.native_id)))"
    )
    command = [sys.executable, "-c", script, GPU, str(devices), str(nodes)]
    bound = f"Binding(processors=frozenset({{{first}}}), node=1, beside_gpu=True)"
    assert subprocess.check_output(command, text=True) == f"{bound} {{{first}}} {{{first}}}\n"


@pytest.mark.parametrize(("node", "cpus", "known"), [(-1, "0", None), (0, "9999", 0)])
def test_a_machine_that_does_not_say_or_does_not_allow_changes_nothing(machine, node, cpus, known):
    before = os.sched_getaffinity(0)
    assert bind_to_gpu(GPU, *machine(node, cpus)) == Binding(frozenset(before), known, beside_gpu=False)
    assert os.sched_getaffinity(0) == before


def test_a_container_that_hides_its_devices_changes_nothing(tmp_path):
    before = frozenset(os.sched_getaffinity(0))
    assert bind_to_gpu(GPU, tmp_path, tmp_path) == Binding(before, None, beside_gpu=False)
