"""The bench runs on a CPU as it would on a GPU, and says that it did."""

import dataclasses
import json
from pathlib import Path
from statistics import median

import pytest
import torch

from avatar_cli.evaluation.runtime_bench.bench import Request, bench
from avatar_cli.evaluation.runtime_bench.results import Results
from avatar_cli.evaluation.runtime_bench.words import NO_GPU, lines
from avatar_cli.families.synthetic.size_file import read_size
from avatar_cli.runtime.memory_budget import Keep

TINY = Path(__file__).parents[3] / "configs" / "synthetic" / "tiny.yaml"

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="this is what a machine without a GPU says")


@dataclasses.dataclass(frozen=True)
class Bench:
    results: Results
    trace: Path
    weights: Path


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory, one_thread: None) -> Bench:
    folder = tmp_path_factory.mktemp("bench")
    request = Request(
        size=read_size(TINY),
        keeps=(Keep.STREAM,),
        rounds=1,
        turn=3,
        chunks=2,
        weights=folder / "weights",
        profile=folder / "trace.json",
    )
    return Bench(bench(request, lambda words: None), folder / "trace.json", folder / "weights")


def test_every_switch_between_the_networks_of_a_chunk_is_measured(found):
    (placed,) = found.results.placed
    assert {(switch.outgoing, switch.incoming) for switch in placed.switches} == {
        ("audio_encoder", "a2v_dit"),
        ("a2v_dit", "sr_dit"),
        ("sr_dit", "audio_encoder"),
    }
    assert all(switch.seconds > 0 and switch.resident_seconds > 0 for switch in placed.switches)
    assert placed.chunk_seconds > 0


def test_copies_are_seen_and_lie_partly_under_compute(found):
    (placed,) = found.results.placed
    assert 0 < placed.hidden_copies <= 1
    assert placed.copy_rate > 0
    assert placed.hidden_gathers is None
    assert 0 <= placed.idle_share < 1
    assert found.results.plain_copy_rate > 0


def test_memory_is_told_after_powers_of_ten(found):
    assert list(found.results.peaks) == [1]


def test_words_claim_nothing_about_a_gpu_and_have_a_line_with_the_switch_time(found):
    words = list(lines(found.results))
    assert NO_GPU in words
    assert any(line.strip().startswith("switch time a2v_dit -> sr_dit: ") for line in words)
    assert not found.results.setting.on_gpu


def test_figures_are_json(found):
    data = json.loads(json.dumps(found.results.as_json()))
    switch = data["placed"][0]["switches"][0]
    assert switch["visible_seconds"] == pytest.approx(switch["seconds"] - switch["resident_seconds"])
    assert data["overhead"]["share"] == pytest.approx(found.results.overhead.share)
    assert data["setting"]["parameters"]["a2v_dit"] > 1_000_000


def test_the_trace_names_stages_blocks_and_copies_on_the_profiler_s_clock(found):
    events = json.loads(found.trace.read_text())["traceEvents"]
    own = [event for event in events if event.get("pid") == 999_999 and event["ph"] == "X"]
    names = {event["name"] for event in own}
    assert {"a2v N1", "sr N2", "decode N0", "forward a2v_dit.0", "copy sr_dit.root"} <= names
    of_profiler = [
        event
        for event in events
        if event.get("name") == "forward a2v_dit.0" and event.get("cat") == "user_annotation"
    ]
    of_runtime = [event for event in own if event["name"] == "forward a2v_dit.0"]
    assert len(of_profiler) == len(of_runtime) > 0
    apart = [one["ts"] - other["ts"] for one, other in zip(of_profiler, of_runtime, strict=True)]
    assert abs(median(apart)) < 5000  # microseconds


def test_weights_are_kept_where_they_are_asked_for(found):
    assert (found.weights / "a2v_dit" / "model.safetensors.index.json").is_file()
