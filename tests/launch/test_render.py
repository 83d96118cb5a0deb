import json

import pytest
import torch


def test_a_job_makes_a_video_and_one_line(start):
    job = start()
    code, out, err = job.end()
    assert code == 0, err
    assert out.count("\n") == 1
    assert out.startswith(f"{job.output}: 60 frames, 2.40 s, first frame after ")
    assert job.output.stat().st_size > 3000
    assert not job.partial.exists()
    assert "first frame after" in err


def test_two_ranks_meet_whatever_an_outer_torchrun_left_in_the_environment(start):
    outer = {"MASTER_ADDR": "nowhere", "MASTER_PORT": "1", "LOCAL_RANK": "3", "WORLD_SIZE": "1", "RANK": "0"}
    outer |= {"TORCHELASTIC_ENABLE_FILE_TIMER": "1", "TORCHELASTIC_TIMER_FILE": "/nowhere/timer"}
    code, out, err = start("--nproc", "2", environment=outer, event="wait for peer").end()
    assert code == 0, err
    assert "60 frames" in out


def test_spawned_ranks_do_the_same_as_forked_ones(start):
    spawn = (
        "import sys; from avatar_cli.launch.agent_process import AgentProcess\n"
        "from avatar_cli.cli import app\n"
        "app.AgentProcess = lambda session: AgentProcess(session, 'spawn')\n"
        "sys.exit(app.run(sys.argv[1:], session='stand_in_session'))"
    )
    code, out, err = start("--nproc", "2", command=spawn, event="wait for peer").end()
    assert code == 0, err
    assert "60 frames" in out


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ("fail", "The mouth fell off."),
        ("segfault", "was killed by SIGSEGV (stage decode, chunk N1)."),
        ("exit", "ended with status 7 before its work was done (stage decode, chunk N1)."),
        ("vanish", "Rank 0 ended before its work was done and gave no reason."),
        ("kill ffmpeg", "it was killed by SIGKILL."),
    ],
)
def test_a_job_that_fails_says_why_in_one_sentence(start, event, message):
    code, out, err = start("--quiet", event=event).end()
    assert code == 5
    assert out == ""
    assert err.startswith("avatar: error: ")
    assert err.endswith(f"{message}\n")
    assert err.count("\n") == 1


def test_the_rank_that_was_killed_is_named_not_the_one_that_waits_for_it(start):
    code, _, err = start("--nproc", "2", "--quiet", rank=1, event="sigkill", frames=40).end()
    assert code == 5
    assert err.startswith("avatar: error: Rank 1 (process ")
    assert "was killed by SIGKILL" in err
    assert err.endswith("(stage a2v, chunk N1).\n")


def test_two_jobs_share_a_machine(start, tmp_path):
    outputs = [tmp_path / "one.mp4", tmp_path / "other.mp4"]
    jobs = [start("--nproc", "2", "-o", path, delay=0.02, event="wait for peer") for path in outputs]
    for job, path in zip(jobs, outputs, strict=True):
        code, out, err = job.end()
        assert code == 0, err
        assert out.startswith(f"{path}: 60 frames")


def test_debug_shows_the_traceback_of_the_rank(start):
    code, _, err = start("--debug", event="bug").end()
    assert code == 5
    assert "avatar: error: Unexpected ZeroDivisionError on rank 0: one over nothing" in err
    assert "in misbehave" in err


def test_what_libraries_print_stays_out_of_sight_and_a_warning_comes_once(start):
    code, out, err = start(event="print").end()
    assert code == 0
    assert "noise" not in out + err
    assert err.count("warning: The photo is small.") == 1


def test_debug_shows_what_libraries_print(start):
    _, out, err = start("--debug", event="print").end()
    assert "noise on stdout" in err
    assert "noise on stderr" in err
    assert "noise" not in out


def test_json_lines_are_all_there_is_on_stdout(start):
    code, out, err = start("--json", event="print").end()
    events = [json.loads(line) for line in out.splitlines()]
    kinds = {event["event"] for event in events}
    assert code == 0
    assert {"rank_started", "interval", "instant", "progress", "warning", "memory", "finished"} <= kinds
    assert [event["frames"] for event in events if event["event"] == "progress"] == list(range(1, 61))
    assert err == ""


def test_report_and_trace_tell_the_same_story(start, tmp_path):
    report_file, trace_file = tmp_path / "report.json", tmp_path / "trace.json"
    code, _, err = start(
        *("--report", report_file, "--trace", trace_file, "--seed", "7", "--nproc", "auto"),
        delay=0.01,
        frames=120,
    ).end()
    assert code == 0, err
    report = json.loads(report_file.read_text())
    ttff = report["ttff"]
    assert 0 < ttff["first_frame"] < ttff["first_bytes"]
    names = [(step["process"], step["name"]) for step in ttff["waterfall"]]
    assert names[0] == ("command", "command")
    assert {("launcher", "spawn"), ("launcher", "imports"), ("rank 0", "imports")} <= set(names)
    assert ("rank 0", "decode") in names
    assert report["speed"]["frames"] == 120
    assert report["speed"]["warm_up_frames"] == 48
    assert report["job"]["generation"]["seed"] == 7
    assert report["job"]["compute"]["ranks"] == max(1, torch.cuda.device_count())
    assert report["environment"]["ranks"]["0"]["threads"] == 1
    assert report["memory"]["pss_peak"] > 50e6  # torch alone is more
    assert report["memory"]["ranks"]["0"] == {"host": 1000, "device": 0}

    trace = json.loads(trace_file.read_text())
    tracks = {item["args"]["name"] for item in trace if item["name"] == "thread_name"}
    assert {"command", "launcher", "decode"} <= tracks
    assert any(item["ph"] == "X" and item["name"] == "decode N0" for item in trace)
    assert [item["args"]["frames"] for item in trace if item["name"] == "frames"] == list(range(1, 121))


@pytest.mark.parametrize("name", ["report", "trace"])
def test_a_full_disk_for_a_side_file_does_not_cost_the_video(start, name):
    job = start(f"--{name}", "/dev/full", "--quiet")
    code, _, err = job.end()
    assert code == 4
    assert err == (
        f"avatar: error: The {name} cannot be written to /dev/full (No space left on device): "
        "choose another file.\n"
    )
    assert job.output.stat().st_size > 3000


def test_a_trace_that_cannot_be_opened_ends_the_command_before_the_job(start):
    job = start("--trace", "/proc/trace.json")
    code, _, err = job.end()
    assert code == 4
    assert err.startswith("avatar: error: The trace cannot be written to /proc/trace.json (")
    assert not job.output.exists()


def test_a_reader_that_leaves_ends_the_job(start):
    job = start("--json", frames=3000, delay=0.02)
    family = job.wait_for_frames()
    job.process.stdout.close()
    assert job.process.wait(60) == 130
    assert job.process.stderr.read() == "avatar: interrupted; the reader of the events has left.\n"
    assert job.left(family, 10.0) == []
