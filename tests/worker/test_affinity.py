import os
import subprocess
import sys

import pytest

from avatar_cli.worker.affinity import bind_to_gpu, parse_cpu_list

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


def test_a_process_is_restricted_to_the_gpus_node(machine):
    first = min(os.sched_getaffinity(0))
    devices, nodes = machine(1, f"{first},9999")
    script = (
        "import os, sys; from pathlib import Path; from avatar_cli.worker.affinity import bind_to_gpu\n"
        "bound = bind_to_gpu(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))\n"
        "print(bound == os.sched_getaffinity(0), *bound)"
    )
    command = [sys.executable, "-c", script, GPU, str(devices), str(nodes)]
    assert subprocess.check_output(command, text=True) == f"True {first}\n"


@pytest.mark.parametrize(("node", "cpus"), [(-1, "0"), (0, "9999")])
def test_a_machine_that_does_not_say_or_does_not_allow_changes_nothing(machine, node, cpus):
    before = os.sched_getaffinity(0)
    assert bind_to_gpu(GPU, *machine(node, cpus)) == before
    assert os.sched_getaffinity(0) == before
