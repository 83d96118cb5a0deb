"""Nothing of a job survives the death of any of its processes, and what was encoded plays."""

import signal
import subprocess
import time

import pytest

from avatar_cli.media.ffmpeg import ffmpeg_path
from avatar_cli.media.probe_mp4 import probe_mp4

ENDLESS = {"frames": 100_000, "delay": 0.02}
HANGING = {"frames": 100_000, "delay": 0.005, "event": "hang", "at": 200}
FEW_SECONDS = 10.0  # 4 at most on a machine that does nothing else


def plays(path):
    """Whether ffmpeg decodes the file without a complaint."""
    command = [ffmpeg_path(), "-v", "error", "-i", path, "-f", "null", "-"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.returncode == 0 and result.stderr == ""


@pytest.mark.parametrize("victim", ["parent", "agent", "parent and agent", "rank 0", "rank 1", "encoder"])
def test_nothing_is_left_after_a_kill(start, victim):
    job = start("--nproc", "2", "--quiet", **ENDLESS)
    family = job.wait_for_frames()
    match victim:
        case "parent":
            job.process.kill()
        case "agent":
            job.agent().kill()
        case "parent and agent":
            agent = job.agent()
            job.process.kill()
            agent.kill()
        case "rank 0" | "rank 1":
            job.ranks()[int(victim[-1])].kill()
        case "encoder":
            job.encoder().kill()
    assert job.left(family, FEW_SECONDS) == []
    code, _, err = job.end()
    if victim.startswith("parent"):
        assert code == -signal.SIGKILL
    else:
        assert code == 5
        assert "SIGKILL" in err
        assert (
            victim.partition(" ")[0].replace("agent", "launcher").replace("encoder", "ffmpeg") in err.lower()
        )
    assert plays(job.partial)
    assert not job.output.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_job_leaves_a_file_that_plays(start, number):
    job = start("--quiet", **ENDLESS)
    family = job.wait_for_frames()
    job.process.send_signal(number)
    code, _, err = job.end()
    assert code == 130
    frames = len(probe_mp4(job.partial).video.times)
    assert err == f"avatar: interrupted; the first {frames} frames are in {job.partial}.\n"
    assert job.left(family, 1.0) == []
    assert plays(job.partial)


def test_a_second_interrupt_does_not_wait_for_a_rank_that_hangs(start):
    job = start("--quiet", **HANGING)
    family = job.wait_for_frames()
    job.process.send_signal(signal.SIGINT)
    time.sleep(0.1)
    job.process.send_signal(signal.SIGINT)
    code, _, _ = job.end()
    assert code == 130
    assert job.left(family, FEW_SECONDS) == []


def test_a_rank_that_hangs_is_cut_off_after_an_interrupt(start):
    job = start("--quiet", **HANGING)
    family = job.wait_for_frames()
    job.process.send_signal(signal.SIGINT)
    code, _, _ = job.end()
    assert code == 130
    assert job.left(family, 1.0) == []


def test_a_launcher_that_is_stopped_does_not_keep_ranks_alive(start):
    job = start("--nproc", "2", "--quiet", **ENDLESS)
    family = job.wait_for_frames()
    job.agent().suspend()
    job.ranks()[1].kill()
    code, _, err = job.end()
    assert code == 5
    assert err == "avatar: error: Rank 1 ended before its work was done and gave no reason.\n"
    assert job.left(family, FEW_SECONDS) == []
    assert plays(job.partial)


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_that_is_stopped_ends_the_job_and_is_named(start, rank):
    job = start("--nproc", "2", "--quiet", **ENDLESS)
    family = job.wait_for_frames()
    job.ranks()[rank].suspend()
    code, _, err = job.end()
    assert code == 5
    assert err.startswith(f"avatar: error: Rank {rank} (process ")
    assert "was stopped by a signal and did not go on for 4 s (stage " in err
    assert "chunk N" in err
    assert job.left(family, FEW_SECONDS) == []
    assert plays(job.partial)


def test_a_rank_that_does_not_answer_the_others_is_named_with_its_stage(start):
    code, _, err = start("--nproc", "2", "--quiet", rank=1, event="hang", frames=40).end()
    assert code == 5
    assert err.startswith("avatar: error: Rank 1 (process ")
    assert err.endswith("does not answer the other ranks (stage a2v, chunk N1).\n")


@pytest.mark.parametrize(
    ("stage", "seconds", "code"),
    [("load", 3600, 130), ("reference", 3600, 130), ("finish", 3600, 130), ("finish", 0.5, 0)],
)
def test_an_interrupt_is_heard_in_every_phase(start, stage, seconds, code):
    job = start("--json", "--nproc", "2", stay=[stage, seconds])
    family = job.wait_for_stage(stage)
    job.process.send_signal(signal.SIGINT)
    ended_with, _, err = job.end()
    assert ended_with == code, err
    assert job.left(family, FEW_SECONDS) == []
    assert job.output.exists() == (code == 0)
    assert job.partial.exists() == (stage == "finish" and code != 0)


@pytest.mark.parametrize("victim", ["parent, by an interrupt", "rank", "agent", "encoder"])
def test_a_job_that_ends_before_its_first_frame_leaves_no_file(start, victim):
    job = start("--json", stay=["reference", 3600])
    family = job.wait_for_stage("reference")
    assert job.partial.exists()
    match victim:
        case "rank":
            job.ranks()[0].kill()
        case "agent":
            job.agent().kill()
        case "encoder":
            job.encoder().kill()
            job.process.send_signal(signal.SIGINT)
        case _:
            job.process.send_signal(signal.SIGINT)
    _, _, err = job.end()
    assert job.left(family, FEW_SECONDS) == []
    assert not job.partial.exists()
    assert ("nothing was written" in err) == (victim in ("parent, by an interrupt", "encoder"))


def test_a_job_that_writes_nothing_keeps_what_an_earlier_one_left(start):
    earlier = start("--quiet", **ENDLESS)
    earlier.wait_for_frames()
    earlier.process.send_signal(signal.SIGINT)
    earlier.end()
    frames = len(probe_mp4(earlier.partial).video.times)
    job = start("--json", stay=["load", 3600])
    job.wait_for_stage("load")
    job.process.send_signal(signal.SIGINT)
    code, _, err = job.end()
    assert (code, err) == (130, "avatar: interrupted; nothing was written.\n")
    assert len(probe_mp4(job.partial).video.times) == frames


def test_an_interrupt_before_the_job_is_handed_over_ends_everything(start, tmp_path):
    job = start("--quiet", **ENDLESS)
    while not (family := job.family()):
        time.sleep(0.001)
    job.process.send_signal(signal.SIGINT)
    code, _, err = job.end()
    assert code == 130
    assert err == "avatar: interrupted; nothing was written.\n"
    assert job.left(family, FEW_SECONDS) == []


def test_a_wrong_input_ends_the_launcher_at_once(start, tmp_path):
    job = start("--quiet", "--background", "greenish")
    while not (family := job.family()):
        time.sleep(0.001)
    assert job.end()[0] == 2
    assert job.left(family, 1.0) == []


def test_nohup_is_honoured(start):
    ignoring = (
        "import signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from avatar_cli.cli.app import run; sys.exit(run(sys.argv[1:], session='stand_in_session'))"
    )
    job = start("--quiet", command=ignoring, delay=0.02)
    job.wait_for_frames()
    job.process.send_signal(signal.SIGHUP)
    assert job.end()[0] == 0
