"""Watches a video of a person, frame by frame, for all that a photo does not tell."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.best_frames import LEAST_SHARPNESS, KeptFrame
from avatar_cli.families.portrait.face_view import FaceView
from avatar_cli.families.portrait.frame_facts import FrameFacts, facts_of
from avatar_cli.families.portrait.geometry import personal_pose
from avatar_cli.families.portrait.habit_measures import measure_habits
from avatar_cli.families.portrait.habits import Habits
from avatar_cli.families.portrait.latents import FPS
from avatar_cli.families.portrait.mesh_follower import MeshFollower
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from avatar_cli.families.portrait.scene_cuts import CutFinder
from avatar_cli.families.portrait.shots import ShotsOfPerson
from avatar_cli.families.portrait.tokens import assemble_tokens
from avatar_cli.families.portrait.tracker import FaceTracker
from avatar_cli.families.portrait.upside_down import is_upside_down, shows_upside_down
from avatar_cli.media.video_reference import ReferenceVideo
from avatar_cli.protocol.errors import InputError

Floats = NDArray[np.float32]
# Tells of mono sound float32 [n] at 16 kHz, 25 times a second, whether somebody speaks: bool [m].
VoiceFinder = Callable[[Floats], NDArray[np.bool_]]

# Frames that show the same face as the chosen one, so that their mean is that face with less noise.
_SAME_GAP = 0.03  # e
_SAME_LIDS = 0.2  # of the height of the eye slits
_SAME_TURN = 0.26  # radians, 15 degrees
_FEWEST_ALIKE = 3


@dataclass(frozen=True)
class WatchedVideo:
    """What a video tells of the person.

    Attributes:
        neutral: The frame to render from.
        tokens: float32 [128, 12], reference tokens from all usable frames.
        habits: How the person moves.
        open_mouth: A view of the open mouth, None where no usable frame shows it.
        closed_eyes: A view of closed lids, likewise.
        frames: How many were looked at.
        usable: In how many of them the face is found, frontal, large and sharp enough to be measured.
        left_out: How many frames after a cut show a face that is not taken for the person's.
        left_out_from: When the first of them is seen, seconds; None where there are none.
        faces: How many faces the deciding frame shows.
        speaks: Whether a voice was heard; None where the video has no sound.
    """

    neutral: KeptFrame
    tokens: Floats
    habits: Habits
    open_mouth: FaceView | None
    closed_eyes: FaceView | None
    frames: int
    usable: int
    left_out: int
    left_out_from: float | None
    faces: int
    speaks: bool | None


def watch_video(
    video: ReferenceVideo, chosen: int | None, tracker: FaceTracker, find_voice: VoiceFinder
) -> WatchedVideo:
    """Follows the person through the video.

    At most six frames are in memory, three of the person and three of the shot that passes. The sound is
    listened to in a thread of its own meanwhile.

    Args:
        video: The video.
        chosen: Which of several faces, counted from the left from 1 in the first frame that shows one; None:
            the largest.
        tracker: Finds the face.
        find_voice: Hears when somebody speaks.

    Raises:
        InputError: No frame shows a face, the best one shows it upside down, or the video cannot be decoded.
        UsageError: There are fewer faces than `chosen`.
    """
    shape = load_motion_basis().shape
    follower, cuts, shots = MeshFollower(video.path, chosen, tracker), CutFinder(), ShotsOfPerson()
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="voice") as beside:
        heard = beside.submit(_hear, video, find_voice)
        count, shot = 0, 0
        for frame in video.frames():
            count += 1
            if cut := cuts.is_cut(frame.pixels):
                shots.end_shot()
                shot += 1
            face = follower.see(frame, cut)
            if face is not None:
                shots.take(frame, face, facts_of(frame, face, shape, shot))
        shots.end_shot()
        spoken = heard.result()
    seen, best = shots.seen, shots.best
    if best.neutral is None:
        raise InputError(_no_face(video, tracker))
    if is_upside_down(best.neutral.pixels, best.neutral.face, tracker):
        raise InputError(_on_its_head(video))
    voice = None if spoken is None else _at_frames(spoken, seen)
    sharpness = float(np.median([facts.sharpness for facts in seen]))
    lids = float(np.median([facts.lids for facts in seen]))
    usable = [facts for facts in seen if facts.frontal and facts.sharpness >= LEAST_SHARPNESS * sharpness]
    mesh = _mean_mesh(usable, best.neutral.facts, shape)
    colours = np.median([facts.colours for facts in usable or [best.neutral.facts]], axis=0)
    return WatchedVideo(
        neutral=best.neutral,
        tokens=assemble_tokens(mesh, colours, shape),
        habits=measure_habits(seen, mesh, voice),
        open_mouth=best.open_mouth(sharpness),
        closed_eyes=best.closed_eyes(sharpness, lids),
        frames=count,
        usable=len(usable),
        left_out=shots.left_out,
        left_out_from=shots.left_out_from,
        faces=follower.faces,
        speaks=None if voice is None else bool(voice.any()),
    )


def _no_face(video: ReferenceVideo, tracker: FaceTracker) -> str:
    with closing(video.frames()) as frames:
        if shows_upside_down(next(frames).pixels, tracker):
            return _on_its_head(video)
    return f"No face was found in {video.path}: use a video that shows one person from the front, well lit."


def _on_its_head(video: ReferenceVideo) -> str:
    return f"The person in {video.path} is upside down: turn the video by 180 degrees."


def _mean_mesh(usable: list[FrameFacts], chosen: FrameFacts, shape: NDArray) -> NDArray[np.float64]:
    """The face of the chosen frame, [478, 3] in e: the median of the meshes of frames that look like it."""
    alike = [
        facts.canonical
        for facts in usable
        if abs(facts.gap - chosen.gap) <= _SAME_GAP
        and abs(facts.lids - chosen.lids) <= _SAME_LIDS * chosen.lids
        and facts.turn <= _SAME_TURN
    ]
    if len(alike) < _FEWEST_ALIKE:
        return chosen.canonical.astype(np.float64)
    return personal_pose(np.median(alike, axis=0), shape)[1]


def _hear(video: ReferenceVideo, find_voice: VoiceFinder) -> NDArray[np.bool_] | None:
    """When somebody speaks in what is watched, 25 times a second; None where there is no sound."""
    sound = video.sound(video.seconds)
    return None if sound is None else find_voice(sound)


def _at_frames(spoken: NDArray[np.bool_], seen: list[FrameFacts]) -> NDArray[np.bool_]:
    """For every frame with the face whether somebody speaks then."""
    frames = np.array([round(facts.seconds * FPS) for facts in seen])
    return np.asarray(spoken[np.minimum(frames, len(spoken) - 1)])
