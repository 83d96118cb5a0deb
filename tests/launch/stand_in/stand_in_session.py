"""A session without models: grey frames through a real encoder, with every way to end badly.

The environment variable STAND_IN chooses: how many frames, seconds a frame takes, what happens to which rank
at which frame, and the phase in which rank 0 stays for some seconds whatever it is told.
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np

from avatar_cli.media.mp4_out import Mp4Writer, SoundFormat, VideoFormat
from avatar_cli.protocol.errors import Interrupted, RenderFailure
from avatar_cli.protocol.events import (
    Finished,
    Instant,
    Interval,
    Memory,
    Progress,
    StageStarted,
    Warned,
    now,
)
from avatar_cli.runtime.recorder import stage

RATE = 16000
CHUNK = 24
MEETING = ("wait for peer", "hang")


def run(job, emit, stop):
    plan = {"frames": 60, "delay": 0.0, "rank": 0, "event": "", "at": 30, "stay": ["", 0.0]} | json.loads(
        os.environ.get("STAND_IN", "{}")
    )
    rank = int(os.environ["RANK"])
    if rank == 0:
        publish(job, emit, stop, plan)
    else:
        for index in range(plan["frames"]):
            if index % CHUNK == 0:
                emit(StageStarted("a2v", f"N{index // CHUNK}", rank, "MainThread", now()))
            misbehave(plan, rank, index)
            if stop.wait(plan["delay"]):
                raise Interrupted("stopped")
        if plan["event"] in MEETING:
            meet()
    emit(Memory(rank, 1000 + rank, 0))


def publish(job, emit, stop, plan):
    if plan["event"] == "print":
        print("noise on stdout", flush=True)
        print("noise on stderr", file=sys.stderr, flush=True)
        emit(Warned("The photo is small."))
        emit(Warned("The photo is small."))
    with stage(emit, "load"):
        stay(plan, "load")
    picture = job.picture
    writer = Mp4Writer(
        Path(job.output),
        VideoFormat(picture.width, picture.height, picture.fps),
        SoundFormat(RATE, 1),
        job.encoding,
        on_first_bytes=lambda: emit(Instant("first_bytes", now(), 0)),
    )
    try:
        with stage(emit, "reference"):
            stay(plan, "reference")
        for index in range(plan["frames"]):
            if index % CHUNK == 0:
                emit(StageStarted("decode", f"N{index // CHUNK}", 0, "MainThread", now()))
                begin = now()
            misbehave(plan, 0, index)
            if stop.wait(plan["delay"]):
                raise Interrupted("stopped")
            if plan["event"] == "kill ffmpeg" and index == plan["at"]:
                os.kill(writer.pid, signal.SIGKILL)
            writer.write_sound(np.zeros((int(RATE / picture.fps), 1), np.float32))
            writer.write_frame(np.full((picture.height, picture.width, 3), index % 256, np.uint8))
            if index == 0:
                emit(Instant("first_frame", now(), 0))
            if (index + 1) % CHUNK == 0:
                emit(Interval("decode", begin, now(), 0, "decode", f"N{index // CHUNK}"))
            emit(Progress(index + 1, plan["frames"], now(), "decode"))
        if plan["event"] in MEETING:
            meet()
        with stage(emit, "finish"):
            stay(plan, "finish")
            output = writer.finish()
    except BaseException:
        writer.abandon()
        raise
    emit(Finished(str(output), plan["frames"], float(plan["frames"] / picture.fps), now()))


def stay(plan, phase):
    """As native code does: nothing that the rank is told ends it."""
    if plan["stay"][0] == phase:
        time.sleep(plan["stay"][1])


def misbehave(plan, rank, index):
    """The chosen rank at the chosen frame."""
    if rank != plan["rank"] or index != plan["at"]:
        return
    match plan["event"]:
        case "fail":
            raise RenderFailure("The mouth fell off.")
        case "bug":
            raise ZeroDivisionError("one over nothing")
        case "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "sigkill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "exit":
            os._exit(7)
        case "vanish":
            os._exit(0)
        case "hang":
            threading.Event().wait(3600)


def meet():
    """A collective in which a rank waits for a peer that may be gone."""
    import torch
    import torch.distributed as dist

    dist.all_reduce(torch.ones(1))
