"""What a synthetic model will need on nodes of several sizes, computed: nothing here was measured.

Weights, activations and work come from the networks on the meta device, what stays on the device from the
plan that the runtime itself makes. Times follow from three rates that the caller assumes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from avatar_cli.families.synthetic.example_calls import meta_runs, state_bytes
from avatar_cli.families.synthetic.modules import WHOLE, modules
from avatar_cli.families.synthetic.sizes import SyntheticSize
from avatar_cli.families.synthetic.token_plan import token_degree
from avatar_cli.protocol.errors import EnvironmentProblem
from avatar_cli.runtime.memory_budget import (
    COPIED,
    GATHERED,
    Keep,
    StageMemory,
    auto_budget,
    peak_memory,
    plan_memory,
)
from avatar_cli.runtime.meta_run import MetaRun
from avatar_cli.runtime.residency.choice import Use

NODES = (1, 2, 4, 8)
_RING = ("a2v_dit", "sr_dit")  # they come and go for every chunk, each under the other


@dataclass(frozen=True)
class Assumed:
    """Of each GPU: memory in bytes, rates in bytes a second, and floating-point operations a second."""

    memory: int
    host_to_device: float
    gather: float
    compute: float


@dataclass(frozen=True)
class Needs:
    """What one rank alone needs: the largest call of each network, and the bytes that survive a chunk."""

    size: SyntheticSize
    runs: Mapping[str, MetaRun]
    caches: int


@dataclass(frozen=True)
class PlannedSwitch:
    """`visible_seconds` is what copies and all-gathers take beyond the computation they lie under."""

    outgoing: str
    incoming: str
    visible_seconds: float


@dataclass(frozen=True)
class NodePlan:
    """Bytes of one of `gpus` GPUs, and what is kept of each network; `problem` where they do not fit."""

    gpus: int
    all_weights: int  # of all networks, wherever they are
    resident: int  # of those that stay on the GPU
    activations: int  # of the network that needs most
    caches: int  # what survives a chunk
    peak: int
    pinned: int  # host memory of each rank, of weights that come and go
    keeps: Mapping[str, Keep]
    switches: tuple[PlannedSwitch, ...]
    problem: str = ""


@dataclass(frozen=True)
class Network:
    """One network as the plan sees it, on one of several ranks."""

    memory: StageMemory
    run: MetaRun
    degree: int  # ranks that share its tokens

    def block_compute(self, compute: float) -> float:
        """Seconds of one block's forward; the work outside of blocks is small."""
        return self.run.flops / self.degree / max(1, len(self.memory.blocks)) / compute


def find_needs(size: SyntheticSize) -> Needs:
    """Runs every network on the meta device, which takes seconds."""
    parts = modules(size)
    return Needs(size, meta_runs(size, parts.all()), state_bytes(size, parts.vae))


def plan_nodes(needs: Needs, assumed: Assumed, keep: Keep | None = None) -> tuple[NodePlan, ...]:
    """One plan for every number of GPUs; `keep` overrules what their memory allows."""
    return tuple(_plan(_networks(needs, gpus), needs.caches, assumed, keep, gpus) for gpus in NODES)


def _plan(
    networks: dict[str, Network], caches: int, assumed: Assumed, keep: Keep | None, gpus: int
) -> NodePlan:
    whole = [networks.pop(name).memory for name in WHOLE]
    stages = [network.memory for network in networks.values()]
    transport = COPIED if gpus == 1 else GATHERED
    beside = caches + sum(stage.weights + stage.working for stage in whole)
    budget = auto_budget(assumed.memory, assumed.memory) - beside
    activations = max(stage.working for stage in [*stages, *whole])
    weights = sum(stage.weights for stage in stages)
    try:
        planned = plan_memory(stages, budget, transport)
    except EnvironmentProblem as problem:
        return NodePlan(gpus, weights, 0, activations, caches, 0, 0, {}, (), problem.message)
    keeps = planned if keep is None else dict.fromkeys(planned, keep)
    resident = sum(stage.weights for stage in stages if keeps[stage.name] is Keep.RESIDENT)
    always = sum(stage.weights for stage in whole)
    # Shards rest in host memory whatever is kept of the full parameters.
    pinned = weights - resident if gpus == 1 else weights // gpus
    return NodePlan(
        gpus=gpus,
        all_weights=weights + always,
        resident=resident + always,
        activations=activations,
        caches=caches,
        peak=max(peak_memory(stages, keeps, transport).values()) + beside,
        pinned=pinned,
        keeps={**keeps, **dict.fromkeys(WHOLE, Keep.RESIDENT)},
        switches=_switches([networks[name] for name in _RING], keeps, assumed, gpus),
    )


def _networks(needs: Needs, gpus: int) -> dict[str, Network]:
    """By name; ranks share the tokens of the two diffusion transformers, and with them their activations."""
    degrees = dict.fromkeys(("a2v_dit", "sr_dit"), token_degree(needs.size, gpus))
    calls = {"a2v_dit": needs.size.geometry.steps}
    found = {}
    for module in modules(needs.size).all():
        degree, run = degrees.get(module.name, 1), needs.runs[module.name]
        use = Use(module, calls.get(module.name, 1), run.peak_bytes // degree)
        found[module.name] = Network(use.memory(), run, degree)
    return found


def _switches(
    ring: Sequence[Network], keeps: Mapping[str, Keep], assumed: Assumed, gpus: int
) -> tuple[PlannedSwitch, ...]:
    """Between networks of a ring."""
    return tuple(
        PlannedSwitch(
            outgoing.memory.name, incoming.memory.name, _visible(outgoing, incoming, keeps, assumed, gpus)
        )
        for outgoing, incoming in pairwise([*ring, ring[0]])
    )


def _visible(
    outgoing: Network, incoming: Network, keeps: Mapping[str, Keep], assumed: Assumed, gpus: int
) -> float:
    """Root and first block come in under the last block of the network before, each block under the one
    before it.
    """
    memory = incoming.memory
    if keeps[memory.name] is Keep.RESIDENT:
        return 0.0
    lead = memory.root + memory.blocks[0]
    first = _transfer(lead, assumed, gpus) - outgoing.block_compute(assumed.compute)
    under = incoming.block_compute(assumed.compute)
    rest = [max(0.0, _transfer(block, assumed, gpus) - under) for block in memory.blocks[1:]]
    return max(0.0, first) + sum(rest)


def _transfer(nbytes: int, assumed: Assumed, gpus: int) -> float:
    """Seconds: each rank copies its part over its own link, then the parts of the others are gathered."""
    return nbytes / gpus / assumed.host_to_device + nbytes * (gpus - 1) / gpus / assumed.gather
