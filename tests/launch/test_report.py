from fractions import Fraction

import pytest

from avatar_cli.launch.memory import MemorySampler
from avatar_cli.launch.report import ReportBuilder
from avatar_cli.protocol.events import Finished, Instant, Interval, Memory, Progress, ReferenceWatched, Warned
from avatar_cli.protocol.job import Compute, Encoding, Fit, Generation, Mode, Picture, RenderJob

JOB = RenderJob(
    reference="/me.png",
    speech="/talk.wav",
    output="/out.mp4",
    picture=Picture(1280, 720, Fraction(25), Fit.CROP, "black", face=None),
    generation=Generation("portrait", (), 0, 6, 48, 10, 6, Mode.STREAMING),
    encoding=Encoding("veryfast", 20, 160),
    compute=Compute(1, 1),
    frame_hashes=None,
)
STARTED = 100.0


@pytest.fixture
def report():
    def build(*events):
        builder = ReportBuilder(JOB, STARTED, MemorySampler(0))
        for event in events:
            builder.event(event)
        return builder.report(events[-1])

    return build


def test_what_a_reference_video_showed_is_kept(report):
    found = ReferenceWatched(200, 187, 0, 3.2, True, False, True, {"head": 1.25})
    done = Finished("/out.mp4", 48, 1.92, 104.0)
    assert report(found, done).reference["habits"] == {"head": 1.25}
    assert report(done).reference is None


def test_steady_speed_leaves_the_first_chunk_out(report):
    result = report(
        Progress(30, None, 102.0, "decode"),
        Progress(50, None, 103.0, "decode"),
        Progress(250, None, 106.0, "decode"),
        Finished("/out.mp4", 250, 10.0, 107.0),
    )
    assert result.speed.warm_up_frames == 50
    assert result.speed.steady_fps == pytest.approx((250 - 50) / (107.0 - 103.0))
    assert result.speed.overall_fps == pytest.approx(250 / 7.0)


def test_a_video_of_one_chunk_has_no_steady_speed(report):
    result = report(Progress(48, 48, 103.0, "decode"), Finished("/out.mp4", 48, 1.92, 104.0))
    assert result.speed.warm_up_frames is None
    assert result.speed.steady_fps is None


def test_few_frames_after_the_first_chunk_give_no_steady_speed(report):
    result = report(Progress(48, 60, 103.0, "decode"), Finished("/out.mp4", 60, 2.4, 104.0))
    assert result.speed.steady_fps is None


def test_a_stall_free_start_waits_for_the_slowest_frame(report):
    """48 frames (1.92 s) at 102, the next at 104.5: a start before 104.5 - 1.92 would run dry."""
    result = report(
        Instant("first_frame", 101.0, 0),
        Progress(48, None, 102.0, "decode"),
        Instant("first_bytes", 101.3, 0),
        Progress(106, None, 104.5, "decode"),
        Finished("/out.mp4", 106, 4.24, 105.0),
    )
    through_the_encoder = 0.3
    assert result.ttff.first_bytes == pytest.approx(1.3)
    assert result.ttff.stall_free_start == pytest.approx(4.5 - 48 / 25 + through_the_encoder)


def test_the_waterfall_holds_what_led_to_the_first_bytes_and_nothing_later(report):
    result = report(
        Interval("load", 100.5, 101.0, 0, "main"),
        Interval("sr", 101.2, 101.4, 0, "decode", "N0"),
        Interval("sr", 101.6, 101.7, 0, "decode", "N0"),
        Interval("a2v", 101.4, 101.9, 0, "compute", "N1"),
        Instant("first_bytes", 102.0, 0),
        Interval("decode", 102.1, 102.5, 0, "decode", "N0"),
        Interval("decode", 101.8, 102.4, 0, "decode", "N0"),
        Finished("/out.mp4", 48, 1.92, 104.0),
    )
    assert [(step.name, step.chunk) for step in result.ttff.waterfall] == [
        ("load", ""),
        ("sr", "N0"),
        ("decode", "N0"),
    ]
    sr = result.ttff.waterfall[1]
    assert (sr.begin, sr.end, sr.busy) == pytest.approx((1.2, 1.7, 0.3))
    assert result.stages["a2v"].seconds == pytest.approx(0.5)


def test_switches_are_apart_from_stages(report):
    result = report(
        Interval("enter sr_dit", 101.0, 101.004, 0, "compute", "N0"),
        Interval("enter sr_dit", 102.0, 102.002, 0, "compute", "N1"),
        Interval("a2v", 101.0, 101.5, 0, "compute", "N0"),
        Finished("/out.mp4", 48, 1.92, 104.0),
    )
    assert set(result.stages) == {"a2v"}
    assert result.switches["enter sr_dit"].calls == 2
    assert result.switches["enter sr_dit"].longest == pytest.approx(0.004)


def test_memory_peaks_are_told_by_rank_and_warnings_in_order(report):
    result = report(
        Memory(1, 20, 2),
        Memory(0, 10, 1),
        Warned("first"),
        Warned("second"),
        Finished("/out.mp4", 48, 1.92, 104.0),
    )
    assert result.memory.ranks["1"].host == 20
    assert result.memory.ranks["0"].device == 1
    assert result.warnings == ("first", "second")
