"""What the user is told about a reference video."""

import math
from dataclasses import asdict

from avatar_cli.families.portrait.reference_video import WatchedVideo
from avatar_cli.media.video_reference import ReferenceVideo
from avatar_cli.protocol.events import ReferenceWatched

_FEW_USABLE = 25  # frames, 2 s: fewer say little


def findings(watched: WatchedVideo) -> ReferenceWatched:
    """For the report."""
    return ReferenceWatched(
        frames=watched.frames,
        usable=watched.usable,
        left_out=watched.left_out,
        seconds=watched.neutral.facts.seconds,
        open_mouth=watched.open_mouth is not None,
        closed_eyes=watched.closed_eyes is not None,
        voice=bool(watched.speaks),
        habits={name: round(math.exp(value), 3) for name, value in asdict(watched.habits).items()},
    )


def video_warnings(video: ReferenceVideo, watched: WatchedVideo) -> list[str]:
    """What is missing in a video, one sentence each."""
    sentences = list(video.warnings)
    if watched.left_out_from is not None:
        sentences.append(
            f"At {watched.left_out_from:.1f} s {video.path} cuts to somebody else, or to quite another "
            f"light: {watched.left_out} of its frames are left out."
        )
    if watched.usable < min(_FEW_USABLE, watched.frames):
        sentences.append(
            f"Only {watched.usable} of {watched.frames} frames of {video.path} show the face large, sharp "
            "and from the front: a longer or better video tells more of the person."
        )
    elif watched.frames < _FEW_USABLE:
        count = "1 frame" if watched.frames == 1 else f"{watched.frames} frames"
        sentences.append(f"{video.path} has {count} to watch: a longer video tells more of the person.")
    if watched.open_mouth is None:
        sentences.append(f"{video.path} shows no open mouth well enough: the teeth are drawn.")
    return sentences
