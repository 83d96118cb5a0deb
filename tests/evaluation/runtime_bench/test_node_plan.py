"""A plan follows from sizes and assumed rates alone."""

import dataclasses
import json
from pathlib import Path

import pytest

from avatar_cli.evaluation.runtime_bench.node_plan import Assumed, find_needs, plan_nodes
from avatar_cli.evaluation.runtime_bench.plan_words import as_json, lines
from avatar_cli.families.synthetic.modules import WHOLE
from avatar_cli.families.synthetic.size_file import parameters, read_size
from avatar_cli.runtime.memory_budget import Keep

TINY = Path(__file__).parents[3] / "configs" / "synthetic" / "tiny.yaml"
MIB = 1 << 20
RICH = Assumed(memory=1 << 30, host_to_device=1e9, gather=1e9, compute=1e12)
POOR = dataclasses.replace(RICH, memory=8 * MIB)
BENCH = {
    "setting": {"ranks": 2, "on_gpu": True, "device": "A GPU"},
    "placed": [{"keep": "hold", "switches": [{"outgoing": "a", "incoming": "b", "visible_seconds": 0.004}]}],
    "peaks": {"1": 1 << 30},
}


@pytest.fixture(scope="module")
def needs():
    return find_needs(read_size(TINY))


@pytest.fixture(scope="module")
def rich(needs):
    return plan_nodes(needs, RICH)


@pytest.fixture(scope="module")
def poor(needs):
    return plan_nodes(needs, POOR)


def test_where_everything_fits_everything_stays_and_no_switch_is_seen(rich):
    weights = 4 * sum(parameters(read_size(TINY)).values())
    assert [plan.gpus for plan in rich] == [1, 2, 4, 8]
    for plan in rich:
        assert set(plan.keeps.values()) == {Keep.RESIDENT}
        assert plan.resident == plan.all_weights == weights
        assert plan.resident + plan.activations < plan.peak < RICH.memory
        assert [switch.visible_seconds for switch in plan.switches] == [0, 0]


def test_ranks_share_tokens_and_pinned_memory(poor):
    one, two = poor[0], poor[1]
    assert one.keeps["a2v_dit"] is Keep.STREAM
    assert one.keeps["vae_decoder"] is Keep.RESIDENT
    assert one.resident + one.pinned == one.all_weights
    assert one.peak <= POOR.memory
    assert two.pinned == one.pinned // 2
    assert poor[2].peak < two.peak  # each has fewer tokens


def test_a_switch_shows_what_copies_take_beyond_the_computation(needs):
    slow = plan_nodes(needs, dataclasses.replace(POOR, host_to_device=1e6))[0]
    (switch,) = (switch for switch in slow.switches if switch.incoming == "a2v_dit")
    nbytes = 4 * parameters(read_size(TINY))["a2v_dit"]
    assert switch.visible_seconds == pytest.approx(nbytes / 1e6, rel=0.01)
    fast = plan_nodes(needs, dataclasses.replace(POOR, host_to_device=1e15))[0]
    assert all(switch.visible_seconds == 0 for switch in fast.switches)


def test_a_plan_can_be_asked_for_in_one_way(needs, rich):
    for plan in plan_nodes(needs, RICH, Keep.HOLD):
        assert {keep for name, keep in plan.keeps.items() if name not in WHOLE} == {Keep.HOLD}
        assert plan.resident < rich[0].resident


def test_what_cannot_fit_is_told(needs):
    (plan, *_) = plan_nodes(needs, dataclasses.replace(RICH, memory=MIB))
    assert plan.problem
    words = list(lines("tiny", [plan], RICH, []))
    assert any(line.startswith("  does not fit: ") for line in words)


def test_measured_figures_stand_beside_computed_ones_of_as_many_gpus(rich):
    words = list(lines("tiny", rich, RICH, [BENCH]))
    assert "computed and not measured" in words[0]
    assert words.count("  not measured") == 3
    assert "  measured on A GPU, hold: a -> b 4.0 ms visible" in words
    data = json.loads(json.dumps(as_json(rich, RICH, [BENCH])))
    assert [len(plan["measured"]) for plan in data["plans"]] == [0, 1, 0, 0]


def test_figures_of_a_cpu_never_stand_beside_a_gpu_s(rich):
    on_cpu = {**BENCH, "setting": {**BENCH["setting"], "on_gpu": False}}
    assert list(lines("tiny", rich, RICH, [on_cpu])).count("  not measured") == 4
