"""Two jobs one after the other in one process: what is left of the time to first frame once all is warm.

Run as `python -m avatar_cli.evaluation.warm_job JOB`, where JOB is a file with a RenderJob as JSON; prints
for each of the two jobs the seconds until the partial file first played, as a JSON list.
"""

import dataclasses
import json
import sys
import tempfile
import threading
from pathlib import Path

import torch

from avatar_cli.protocol.events import Event, Instant, now
from avatar_cli.protocol.job import RenderJob
from avatar_cli.worker import session

JOBS = 2


def first_bytes(job: RenderJob) -> float:
    """Run a job in this process; seconds from its start to the first bytes that play."""
    moments: list[float] = []

    def note(event: Event) -> None:
        if isinstance(event, Instant) and event.name == "first_bytes":
            moments.append(event.time)

    started = now()
    session.run(job, note, threading.Event())
    return moments[0] - started


def main(path: str) -> None:
    """Run the job twice, each time to an output of its own."""
    job = RenderJob.from_json(Path(path).read_text(encoding="utf-8"))
    torch.set_num_threads(job.compute.threads)
    with tempfile.TemporaryDirectory(prefix="avatar-warm-") as folder:
        outputs = [str(Path(folder) / f"{index}.mp4") for index in range(JOBS)]
        print(json.dumps([first_bytes(dataclasses.replace(job, output=output)) for output in outputs]))


if __name__ == "__main__":
    main(sys.argv[1])
