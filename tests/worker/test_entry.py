"""One rank in a process of its own, without a launcher around it."""

import os
import subprocess
import sys
import textwrap

import pytest

from avatar_cli.protocol.events import Failed, RankStarted, Warned, from_line

SCRIPT = """
import sys
sys.path.insert(0, {folder!r})
from multiprocessing.connection import Connection
from avatar_cli.worker.entry import RankLinks, RankTask, run_rank
links = RankLinks(Connection(int(sys.argv[1]), readable=False), Connection(int(sys.argv[2]), writable=False))
run_rank(RankTask(sys.argv[3], "session", {{0: links}}))
"""
JOB = """{"reference": "/me.png", "speech": "/talk.wav", "output": "/costs $5 and $$.mp4",
"picture": {"width": 64, "height": 64, "fps": "25", "fit": "crop", "background": "black", "face": null},
"generation": {"model": "portrait", "prompt": [], "seed": 0, "steps": 6, "chunk_frames": 48,
"interpolated_frames": 10, "border_frames": 6, "mode": "streaming"},
"encoding": {"preset": "veryfast", "crf": 20, "audio_bitrate_kbps": 160},
"compute": {"ranks": 1, "threads": 2}, "frame_hashes": null, "spool": null}"""


@pytest.fixture
def rank(tmp_path):
    """Runs a rank with the given body of the session's `run`; returns its status and events."""

    def run(body):
        session = "from avatar_cli.protocol.errors import *\nfrom avatar_cli.protocol.events import *\n"
        session += "def run(job, emit, stop):\n" + textwrap.indent(textwrap.dedent(body), "    ")
        (tmp_path / "session.py").write_text(session)
        events_in, events_out = os.pipe()
        lifeline_in, lifeline_out = os.pipe()
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                SCRIPT.format(folder=str(tmp_path)),
                str(events_out),
                str(lifeline_in),
                JOB,
            ],
            pass_fds=[events_out, lifeline_in],
            env=os.environ | {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"},
        )
        os.close(events_out)
        os.close(lifeline_in)
        with os.fdopen(events_in) as lines:
            events = [from_line(line) for line in lines]
        status = process.wait(60)
        os.close(lifeline_out)
        return status, events

    return run


def test_the_session_gets_the_job_its_threads_and_a_way_to_speak(rank):
    status, events = rank(
        """
        import torch
        emit(Warned(f"{job.output} {torch.get_num_threads()} {stop.is_set()}"))
        """
    )
    assert status == 0
    started = next(event for event in events if isinstance(event, RankStarted))
    assert started.environment["threads"] == 2
    assert Warned("/costs $5 and $$.mp4 2 False") in events


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ("raise InputError('No face in me.png.')", 3, "No face in me.png."),
        ("raise EnvironmentProblem('No space.')", 4, "No space."),
        ("{}['mouth']", 5, "Unexpected KeyError on rank 0: 'mouth'"),
        ("raise SystemExit(0)", 5, "Unexpected SystemExit on rank 0: 0"),
        ("stop.set(); raise RenderFailure('The pipe broke.')", 130, "Rank 0 was told to stop."),
    ],
)
def test_an_error_becomes_an_event_with_its_code(rank, body, code, message):
    status, events = rank(body)
    failure = events[-1]
    assert isinstance(failure, Failed)
    assert (failure.code, failure.message) == (code, message)
    assert "Traceback" in failure.traceback
    assert status != 0


def test_an_error_may_name_its_stage_and_chunk(rank):
    _, events = rank(
        """
        error = RenderFailure("The mouth fell off.")
        error.stage, error.chunk = "a2v", "N1"
        raise error
        """
    )
    assert (events[-1].stage, events[-1].chunk) == ("a2v", "N1")
