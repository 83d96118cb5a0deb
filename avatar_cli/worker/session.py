"""One job on one rank: load, encode the reference, run the pipeline, publish."""

import os
import threading
from contextlib import ExitStack
from pathlib import Path

import torch

from avatar_cli.families.registry import load_family
from avatar_cli.media.image_in import load_image, parse_colour
from avatar_cli.media.mp4_out import Mp4Writer, SoundFormat, VideoFormat
from avatar_cli.media.speech_source import SpeechSource
from avatar_cli.protocol.events import EventSink, Finished, Instant, Warned, now
from avatar_cli.protocol.job import Mode, RenderJob
from avatar_cli.runtime.chunks import ChunkPlan
from avatar_cli.runtime.pipeline import Pipeline
from avatar_cli.runtime.recorder import interval, memory_peaks
from avatar_cli.worker.publisher import Publisher

DEFAULT_BACKGROUND = "black"


def run(job: RenderJob, emit: EventSink, stop: threading.Event) -> None:
    """Render `job`; every rank calls this with the same job, rank 0 publishes.

    Raises AvatarError. When `stop` is set the job ends at the next frame with Interrupted, and what was encoded
    so far stays beside the output as a playable partial file.
    """
    rank = int(os.environ.get("RANK", "0"))
    with torch.no_grad(), ExitStack() as resources:
        speech = resources.enter_context(SpeechSource(Path(job.speech), job.picture.fps))
        publisher = _open_publisher(job, speech, emit, rank) if rank == 0 else None
        if publisher:
            resources.callback(publisher.close)
        pipeline = _prepare(job, speech, emit, stop, rank)
        pipeline.run(publisher, job.generation.mode)
        for warning in speech.warnings:
            emit(Warned(warning))
        emit(memory_peaks(rank))
        if publisher:
            with interval(emit, "finish", rank=rank):
                output = publisher.finish()
            seconds = float(publisher.frames / job.picture.fps)
            emit(Finished(str(output), publisher.frames, seconds, now()))
