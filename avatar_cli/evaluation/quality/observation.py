"""One pass over a video: everything that the measures need, and none of its pictures."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.quality.colour import ColourWatcher
from avatar_cli.evaluation.quality.curves import CurveRecorder, FaceCurves
from avatar_cli.evaluation.quality.identity import FaceEmbedder, IdentityWatcher, Likenesses
from avatar_cli.evaluation.quality.judged_face import JudgedFace
from avatar_cli.evaluation.quality.sound import Sound, hear
from avatar_cli.evaluation.quality.strips import Snapshot, StripWatcher
from avatar_cli.evaluation.quality.teeth import TeethWatcher, teeth_figures
from avatar_cli.evaluation.tracks import TRACK_FPS
from avatar_cli.media.decoding import Image, read_frames, read_sound
from avatar_cli.protocol.errors import InputError

Floats = NDArray[np.float32]
FEWEST_FRAMES = 25  # of a video that can be judged: one second
Progress = Callable[[int], None]  # told how many frames were seen


def ignore(frames: int) -> None:
    """Progress that nobody watches."""


class Watcher(Protocol):
    """Looks at frames as they pass and keeps little of them."""

    def see(self, index: int, frame: Image, landmarks: Floats) -> None:
        """Frame `index`, uint8 [H, W, 3] RGB, and the face's mesh [478, 3] in pixels."""


@dataclass(frozen=True)
class Sight:
    """What was seen of a video of T frames at 25 frames/s.

    Attributes:
        curves: Motion of the face.
        skin: Mean RGB of the skin, float32 [T, 3], 0..255.
        background: The same beside the face, float32 [T', 3], or None where there is no room.
        identity: Against the first frame, or None without a face-recognition network.
        teeth: Similarity of the mouth's inside: last minute with first, first with itself; None where there
            is nothing to compare.
        snapshots: Some pictures to look at.
        faces: The most that were seen at once; one of them was followed.
    """

    curves: FaceCurves
    skin: Floats
    background: Floats | None
    identity: Likenesses | None
    teeth: tuple[float | None, float | None]
    snapshots: list[Snapshot]
    faces: int = 1


@dataclass(frozen=True)
class Observation:
    """A video: its file, what was seen, and what was heard in the same frames (None: it has no sound)."""

    path: Path
    sight: Sight
    sound: Sound | None


def observe(
    path: Path, embedder: FaceEmbedder | None, progress: Progress = ignore, face: int | None = None
) -> Observation:
    """Watches and hears a whole video at 25 frames/s.

    No frame is kept. The sound is read at once, for which memory grows by 0.2 MB a second.

    Args:
        path: The video.
        embedder: For the identity.
        progress: Told before every frame, once it could be decoded.
        face: Which face to follow, from 1, counted from the left; None for the largest.

    Raises:
        InputError: the file cannot be read, no face is in it, or it is shorter than a second.
        UsageError: it shows fewer faces than `face`.
    """
    try:
        sight = watch(read_frames(path, fps=TRACK_FPS), embedder, progress, JudgedFace(path, face))
    except RuntimeError as error:
        raise InputError(_not_a_video(path)) from error
    except ValueError as error:
        raise InputError(f"{path} shows no face that can be followed: give a video of a person.") from error
    frames = len(sight.curves)
    if frames == 1:
        raise InputError(f"{path} is a single picture: give a video of a second or more.")
    if frames < FEWEST_FRAMES:
        raise InputError(
            f"{path} has only {frames} frames at {TRACK_FPS} a second: give a video of a second or more."
        )
    try:
        sound = hear(read_sound(path), frames)
    except RuntimeError:
        sound = None  # the pictures were readable, so this is a video without sound
    return Observation(path, sight, sound)


def watch(
    frames: Iterable[Image],
    embedder: FaceEmbedder | None,
    progress: Progress = ignore,
    judged: JudgedFace | None = None,
) -> Sight:
    """What is to be seen in RGB frames of the face `judged`, or of the largest.

    A frame without a face takes the mesh of the one before. Frames before the first face take that face's
    mesh and are not looked at otherwise.

    Raises:
        ValueError: no face is in any of them.
    """
    judged = judged or JudgedFace(Path())
    recorder = CurveRecorder()
    colour, teeth, strip = ColourWatcher(), TeethWatcher(), StripWatcher()
    identity = IdentityWatcher(embedder) if embedder else None
    watchers: list[Watcher] = [colour, teeth, strip, *([identity] if identity else [])]
    landmarks, waiting, index = None, 0, -1
    for index, frame in enumerate(frames):
        progress(index)
        face = judged.find(frame)
        if face is None and landmarks is None:
            waiting += 1
            continue
        landmarks = landmarks if face is None else face.landmarks
        assert landmarks is not None
        for _ in range(index - waiting, index):
            recorder.push(landmarks, False)
        waiting = 0
        recorder.push(landmarks, face is not None)
        for watcher in watchers:
            watcher.see(index, frame, landmarks)
    if landmarks is None:
        raise ValueError(f"no face was found in any of {index + 1} frames")
    curves = recorder.finish()
    return Sight(
        curves=curves,
        skin=np.pad(colour.skin, ((len(curves) - len(colour.skin), 0), (0, 0)), mode="edge"),
        background=colour.background,
        identity=identity.likenesses() if identity else None,
        teeth=teeth_figures(teeth.minutes()),
        snapshots=strip.snapshots,
        faces=judged.most,
    )


def _not_a_video(path: Path) -> str:
    """Why no picture could be read, and what to do."""
    if path.stat().st_size == 0:
        return f"{path} is empty: give a video file."
    try:
        read_sound(path, seconds=1)
    except RuntimeError:
        return f"{path} is no video, or one that was cut off: give a whole video file."
    return f"{path} holds sound but no picture: give a video file."
