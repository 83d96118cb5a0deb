"""Pins this process to the processors beside its GPU, where torchrun cannot do it."""

import os
from pathlib import Path

PCI_DEVICES = Path("/sys/bus/pci/devices")
NUMA_NODES = Path("/sys/devices/system/node")


def bind_to_gpu(pci_address: str, devices: Path = PCI_DEVICES, nodes: Path = NUMA_NODES) -> set[int]:
    """Restrict this process to the processors of a GPU's NUMA node.

    Args:
        pci_address: `domain:bus:device.function` in hexadecimal, such as `0000:3b:00.0`.
        devices: Where the kernel lists PCI devices.
        nodes: Where the kernel lists NUMA nodes.

    Returns:
        The processors this process may use from now on; those it had before where the machine does not say
        which node the GPU belongs to, or where none of the node's processors are allowed here.
    """
    allowed = os.sched_getaffinity(0)
    node = int((devices / pci_address / "numa_node").read_text())
    if node < 0:  # the kernel's word for a machine without NUMA
        return allowed
    beside = allowed & parse_cpu_list((nodes / f"node{node}" / "cpulist").read_text())
    if not beside:
        return allowed
    os.sched_setaffinity(0, beside)
    return beside


def parse_cpu_list(text: str) -> set[int]:
    """The kernel's spelling of a set of processors: `0-3,8,10-11`."""
    cpus: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return cpus
