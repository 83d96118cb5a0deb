"""Is a person rendered from a video nearer to that person than one rendered from a photo?

Of people never trained on, the first half of a recording is the reference, and the second half, whose sound
is rendered, is the truth: nothing of what is judged was seen.
"""

import math
import subprocess
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.benchmark.figures import markdown_table
from avatar_cli.evaluation.command import Render, render
from avatar_cli.evaluation.held_out import CLIPS, Clip, track_clip
from avatar_cli.evaluation.quality.blinks import blinks
from avatar_cli.evaluation.quality.found import Found, Work, say
from avatar_cli.evaluation.quality.head_motion import rotation_deviation
from avatar_cli.evaluation.quality.identity import FaceEmbedder
from avatar_cli.evaluation.quality.likeness import extent
from avatar_cli.evaluation.quality.observation import Observation, observe
from avatar_cli.evaluation.tracks import TRACK_FPS
from avatar_cli.families.portrait.tracker import FaceTracker
from avatar_cli.media.decoding import extract_wav, read_frames
from avatar_cli.media.ffmpeg import ffmpeg_path

RECORDINGS = ("h_man_address_450_20s", "i_older_man_458", "l_man_couch_1080x1920", "l_woman_garden_1080x1920")
_SIZE = "360p"
_EVERY = 25  # frames between two that are compared for identity


@dataclass(frozen=True)
class Manner:
    """How a person moves in one video: degrees, a minute, e."""

    yaw: float
    pitch: float
    roll: float
    blinks: float
    mouth: float
    width: float


@dataclass(frozen=True)
class Comparison:
    """One person: how they really move, and how they do in the renders from a photo and from a video.

    `photo_identity` and `video_identity` are cosines of the renders' mean faces to the real one's; None
    without a face-recognition network.
    """

    name: str
    real: Manner
    photo: Manner
    video: Manner
    photo_identity: float | None
    video_identity: float | None


def measure_reference_video(work: Work) -> Found:
    """A part of `make quality`: a table of everybody, and how far each kind of render is from the truth."""
    embedder = work.embedder()
    people = []
    for clip in (clip for clip in CLIPS if clip.name in RECORDINGS):
        people.append(compare(clip, work.media, work.folder, embedder))
        say(f"{clip.name}: rendered from a photo and from a video")
    return Found([], section=f"### From a photo and from a video\n\n{comparison_table(people)}")


def compare(clip: Clip, media: Path, folder: Path, embedder: FaceEmbedder | None) -> Comparison:
    """Cuts one recording, renders its second half from its first in both ways, and measures.

    Args:
        clip: What is known of the recording.
        media: Folder with a `video` folder that holds it.
        folder: For the halves and the renders.
        embedder: For the identity.
    """
    recording = media / "video" / clip.file
    half = sum(1 for _ in read_frames(recording, fps=TRACK_FPS)) // 2
    seconds = half / float(TRACK_FPS)
    first, second = (folder / f"{clip.name}-{name}.mp4" for name in ("first", "second"))
    _cut(recording, first, 0, seconds)
    _cut(recording, second, seconds, seconds)
    still = folder / f"{clip.name}-first.png"
    _, image = track_clip(first)
    cv2.imwrite(str(still), cv2.cvtColor(image, cv2.COLOR_RGB2BGR))
    wav = folder / f"{clip.name}-second.wav"
    extract_wav(recording, wav, start=seconds + float(clip.lag / TRACK_FPS), seconds=seconds)
    options = ("--size", _SIZE, "--fps", str(TRACK_FPS))
    outputs = {
        name: render(Render(reference, wav, folder / f"{clip.name}-{name}.mp4", options)).output
        for name, reference in (("photo", still), ("video", first))
    }
    real, photo, video = (observe(path, None) for path in (second, outputs["photo"], outputs["video"]))
    speech = _speech(photo)
    faces = (
        [None] * 3
        if embedder is None
        else [_mean_face(path, embedder) for path in (second, *outputs.values())]
    )
    return Comparison(
        name=clip.name,
        real=manner(real, speech),
        photo=manner(photo, speech),
        video=manner(video, speech),
        photo_identity=_cosine(faces[0], faces[1]),
        video_identity=_cosine(faces[0], faces[2]),
    )


def manner(seen: Observation, speech: NDArray[np.bool_]) -> Manner:
    """How the person moves; lips count while `speech` [T] is true."""
    curves = seen.sight.curves
    yaw, pitch, roll = rotation_deviation(curves.angles)
    frames = min(len(curves), len(speech))
    spoken = np.flatnonzero(speech[:frames])
    return Manner(
        yaw=float(yaw),
        pitch=float(pitch),
        roll=float(roll),
        blinks=blinks(curves.lids).per_minute,
        mouth=extent(curves.opening[spoken]),
        width=extent(curves.width[spoken]),
    )


def distances(rendered: Manner, real: Manner) -> tuple[float, ...]:
    """Size of the natural logarithm of each ratio to the truth; 0 is equal, 0.69 twice or half as much.

    One blink a minute more stands under and over the line, for some people do not blink for a while.
    """
    more = [1.0 if field.name == "blinks" else 0.0 for field in fields(Manner)]
    pairs = zip(astuple(rendered), astuple(real), more, strict=True)
    return tuple(abs(math.log((one + extra) / (other + extra))) for one, other, extra in pairs)


def comparison_table(people: list[Comparison]) -> str:
    """Markdown: a row for each person and source, then the mean distances of both kinds of render."""
    header = ("person", "from", "yaw", "pitch", "roll", "blinks/min", "mouth, e", "width, e", "identity")
    rows = [row for person in people for row in _rows(person)]
    for name in ("photo", "video"):
        found = np.array([distances(getattr(person, name), person.real) for person in people])
        means = [f"{value:.2f}" for value in found.mean(axis=0)]
        rows.append(("distance, mean", name, *means, f"all: {found.mean():.2f}"))
    return markdown_table(header, rows)


def _rows(person: Comparison) -> Iterator[tuple[str, ...]]:
    sources = (
        ("real", person.real, None),
        ("photo", person.photo, person.photo_identity),
        ("video", person.video, person.video_identity),
    )
    for source, how, identity in sources:
        yield (
            person.name,
            source,
            *(f"{value:.1f}" for value in (how.yaw, how.pitch, how.roll, how.blinks)),
            *(f"{value:.3f}" for value in (how.mouth, how.width)),
            "" if identity is None else f"{identity:.3f}",
        )


def _speech(render_of_it: Observation) -> NDArray[np.bool_]:
    assert render_of_it.sound is not None  # every render has its speech
    return render_of_it.sound.speech


def _cut(recording: Path, target: Path, start: float, seconds: float) -> None:
    """A part of a recording with its sound, hardly compressed."""
    options = ("-c:v", "libx264", "-preset", "veryfast", "-crf", "12", "-c:a", "aac", "-b:a", "192k")
    command = [str(ffmpeg_path()), "-v", "error", "-y", "-ss", f"{start}", "-t", f"{seconds}"]
    subprocess.run([*command, "-i", str(recording), *options, str(target)], check=True)


def _mean_face(path: Path, embedder: FaceEmbedder) -> NDArray[np.floating]:
    tracker = FaceTracker()
    found = []
    for index, frame in enumerate(read_frames(path, fps=TRACK_FPS)):
        face = tracker.track(frame) if index % _EVERY == 0 else None
        if face is not None:
            found.append(embedder.embed(frame, face.landmarks))
    return np.asarray(np.mean(found, axis=0))


def _cosine(one: NDArray[np.floating] | None, other: NDArray[np.floating] | None) -> float | None:
    if one is None or other is None:
        return None
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))
