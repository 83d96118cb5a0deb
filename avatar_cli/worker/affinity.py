"""Pins this process to the processors beside its GPU, as `torchrun --numa-binding=node` does.

Done here, because torchrun insists on the program numactl, which it does not use, and because a rank that
an outer launcher started has no torchrun of ours above it.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PCI_DEVICES = Path("/sys/bus/pci/devices")
NUMA_NODES = Path("/sys/devices/system/node")
_THREADS = Path("/proc/self/task")


@dataclass(frozen=True)
class Binding:
    """The processors of this process, and the NUMA node of its GPU where the machine tells."""

    processors: frozenset[int]
    node: int | None
    beside_gpu: bool  # all of the processors are on that node


def bind_to_gpu(pci_address: str, devices: Path = PCI_DEVICES, nodes: Path = NUMA_NODES) -> Binding:
    """Restrict this process, with all threads it has, to the processors of a GPU's NUMA node.

    Memory that it touches first, or pins, comes from that node then. Nothing changes where the machine does
    not say which node the GPU belongs to, or where none of the node's processors are allowed here.

    Args:
        pci_address: `domain:bus:device.function` in hexadecimal, such as `0000:3b:00.0`.
        devices: Where the kernel lists PCI devices.
        nodes: Where the kernel lists NUMA nodes.
    """
    allowed = frozenset(os.sched_getaffinity(0))
    node = _node(devices / pci_address / "numa_node")
    if node is None:
        return Binding(allowed, None, beside_gpu=False)
    beside = allowed & parse_cpu_list((nodes / f"node{node}" / "cpulist").read_text())
    if not beside:
        return Binding(allowed, node, beside_gpu=False)
    for thread in _THREADS.iterdir():
        with suppress(ProcessLookupError):  # it has just ended
            os.sched_setaffinity(int(thread.name), beside)
    return Binding(frozenset(os.sched_getaffinity(0)), node, beside_gpu=True)


def parse_cpu_list(text: str) -> set[int]:
    """The kernel's spelling of a set of processors: `0-3,8,10-11`."""
    cpus: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return cpus


def _node(file: Path) -> int | None:
    """The number in a device's numa_node file; the kernel writes -1 where there is no NUMA."""
    if not file.exists():  # some containers hide the devices
        return None
    node = int(file.read_text())
    return node if node >= 0 else None
