"""One job on one rank: load, encode the reference, run the pipeline, publish."""

import os
import threading
from contextlib import ExitStack, closing
from pathlib import Path

import cv2
import torch

from avatar_cli.families.registry import load_family
from avatar_cli.media.background import background_file, load_background
from avatar_cli.media.frame_hashes import FrameHashWriter
from avatar_cli.media.mp4_out import Mp4Writer, SoundFormat, VideoFormat
from avatar_cli.media.picture_remarks import picture_remarks
from avatar_cli.media.reference_in import load_reference
from avatar_cli.media.speech_source import SpeechSource
from avatar_cli.protocol.events import EventSink, Finished, Instant, Warned, now
from avatar_cli.protocol.job import Mode, RenderJob
from avatar_cli.runtime.pipeline import Job, Pipeline
from avatar_cli.runtime.recorder import memory_peaks, stage
from avatar_cli.stages.family import Encoded
from avatar_cli.worker.late_cues import expected_late, late
from avatar_cli.worker.peers import Meeting
from avatar_cli.worker.publisher import Publisher


def run(job: RenderJob, emit: EventSink, stop: threading.Event) -> None:
    """Render `job`; every rank calls this with the same job, rank 0 publishes.

    Raises AvatarError. When `stop` is set the job ends at the next frame with Interrupted, and what was
    encoded so far stays beside the output as a playable partial file.
    """
    rank = int(os.environ.get("RANK", "0"))
    publishes = rank == 0
    cv2.setNumThreads(1)  # frames come from one thread; OpenCV's own threads only wait for each other
    with torch.no_grad(), ExitStack() as resources:
        # Batch mode reads the whole recording before the first frame is published, so the sound of the video
        # comes from a second decode instead of being kept in memory meanwhile.
        shared = publishes and job.generation.mode is Mode.STREAMING
        publisher = None
        told: list[str] = []
        with stage(emit, "open", rank=rank):
            speech = _open_speech(job, keep_sound=shared)
            resources.enter_context(closing(speech))
            if publishes:
                sound = speech if shared else _open_speech(job, keep_sound=True)
                publisher = _open_publisher(job, resources.enter_context(closing(sound)), emit)
                resources.callback(publisher.abandon)
                told = [] if job.spool else expected_late(job.generation.prompt, speech, Path(job.speech))
                for warning in told:
                    emit(Warned(warning))
        pipeline = _prepare(job, speech, emit, stop, Meeting(rank, job.compute.ranks))
        pipeline.run(publisher, job.generation.mode)
        if publisher:
            cues = [sentence for sentence in late(job.generation.prompt, speech) if sentence not in told]
            for warning in (*speech.warnings, *cues):
                emit(Warned(warning))
            with stage(emit, "finish", rank=rank):
                output = publisher.finish()
        emit(memory_peaks(rank))
        if publisher:
            emit(Finished(str(output), publisher.frames, float(publisher.frames / job.picture.fps), now()))


def _open_speech(job: RenderJob, keep_sound: bool) -> SpeechSource:
    spool = Path(job.spool) if job.spool else None
    return SpeechSource(Path(job.speech), job.picture.fps, keep_sound=keep_sound, spool=spool)


def _prepare(
    job: RenderJob, speech: SpeechSource, emit: EventSink, stop: threading.Event, meeting: Meeting
) -> Pipeline:
    rank = meeting.rank
    with stage(emit, "load", rank=rank):
        family = load_family(job.generation.model, job.compute.ranks, emit)
        meeting.wait_for_everybody()
    with stage(emit, "reference", rank=rank):
        person = load_reference(Path(job.reference), (job.picture.width, job.picture.height))
        scene = load_background(job.picture.background, job.picture.width, job.picture.height)
        encoded = family.encode(person, scene, job.picture, job.generation.prompt)
    if rank == 0:
        _tell(job, encoded, emit)
    with stage(emit, "stages", rank=rank):
        graph = family.graph(encoded.conditioning, speech, job.generation, job.picture)
        pipeline_job = Job(
            plan=family.plan(job.generation),
            seed=job.generation.seed,
            has_frame=lambda frame: speech.covers(frame / family.facts.fps),
            conditioning=encoded.conditioning,
            meet=meeting.wait_for_publisher,
        )
        return Pipeline(graph, pipeline_job, emit, stop, rank)


def _tell(job: RenderJob, encoded: Encoded, emit: EventSink) -> None:
    if encoded.found:
        emit(encoded.found)
    for warning in (*_picture_remarks(job, encoded), *encoded.warnings):
        emit(Warned(warning))


def _picture_remarks(job: RenderJob, encoded: Encoded) -> list[str]:
    reference = None if encoded.found else Path(job.reference)  # a video is no picture
    pictures = (reference, background_file(job.picture.background))
    return [remark for path in pictures if path for remark in picture_remarks(path)]


def _open_publisher(job: RenderJob, sound: SpeechSource, emit: EventSink) -> Publisher:
    hashes = FrameHashWriter(Path(job.frame_hashes)) if job.frame_hashes else None
    writer = Mp4Writer(
        Path(job.output),
        VideoFormat(job.picture.width, job.picture.height, job.picture.fps),
        SoundFormat(sound.info.rate, sound.info.channels),
        job.encoding,
        on_first_bytes=lambda: emit(Instant("first_bytes", now(), 0)),
    )
    return Publisher(writer, sound, hashes, emit)
