"""A plan of nodes in words and as JSON, with what was measured beside what was computed."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from avatar_cli.evaluation.runtime_bench.node_plan import Assumed, NodePlan

_NOT_MEASURED = "not measured"


def as_json(plans: Sequence[NodePlan], assumed: Assumed, measured: Sequence[Mapping[str, Any]]) -> Any:
    """JSON data; every plan with the bench results of as many ranks."""
    return {
        "computed_with": dataclasses.asdict(assumed),
        "plans": [
            {
                **dataclasses.asdict(plan),
                "keeps": {name: keep.value for name, keep in plan.keeps.items()},
                "measured": list(_of_ranks(measured, plan.gpus)),
            }
            for plan in plans
        ],
    }


def lines(
    name: str, plans: Sequence[NodePlan], assumed: Assumed, measured: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """The plans, line by line."""
    yield (
        f"{name}, computed and not measured; assumed of each GPU: {_gib(assumed.memory)} of memory, "
        f"{assumed.host_to_device / 1e9:g} GB/s from the host, {assumed.gather / 1e9:g} GB/s of all-gather, "
        f"{assumed.compute / 1e12:g} TFLOP/s"
    )
    for plan in plans:
        yield ""
        yield f"{plan.gpus} GPU{'s' if plan.gpus > 1 else ''}"
        yield from (f"  {line}" for line in _node(plan))
        yield from (f"  {line}" for line in _measured(plan, measured))


def _node(plan: NodePlan) -> Iterator[str]:
    if plan.problem:
        yield f"does not fit: {plan.problem}"
        return
    yield (
        f"each GPU: {_gib(plan.resident)} of {_gib(plan.all_weights)} of weights resident, "
        f"{_gib(plan.activations)} of activations, {_gib(plan.caches)} of caches, peak {_gib(plan.peak)}"
    )
    yield f"each process: {_gib(plan.pinned)} of pinned host memory"
    yield "kept: " + ", ".join(f"{name} {keep.value}" for name, keep in plan.keeps.items())
    for switch in plan.switches:
        yield (
            f"switch {switch.outgoing} -> {switch.incoming}: "
            f"{1000 * switch.visible_seconds:.1f} ms visible (computed)"
        )


def _measured(plan: NodePlan, measured: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    found = list(_of_ranks(measured, plan.gpus))
    if not found:
        yield _NOT_MEASURED
    for results in found:
        device = results["setting"]["device"]
        for placed in results["placed"]:
            for switch in placed["switches"]:
                yield (
                    f"measured on {device}, {placed['keep']}: {switch['outgoing']} -> {switch['incoming']} "
                    f"{1000 * switch['visible_seconds']:.1f} ms visible"
                )
        peak = max(results["peaks"].values())
        yield f"measured on {device}: peak {_gib(peak)}"


def _of_ranks(measured: Sequence[Mapping[str, Any]], ranks: int) -> Iterator[Mapping[str, Any]]:
    """Only a GPU's figures stand beside a plan of GPUs."""
    for results in measured:
        if results["setting"]["ranks"] == ranks and results["setting"]["on_gpu"]:
            yield results


def _gib(nbytes: int) -> str:
    return f"{nbytes / 2**30:.1f} GiB"
