"""Real recordings of real people that no training has seen, and a still of each to render from."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from avatar_cli.evaluation.tracks import TRACK_FPS, FaceTrack, track_frames
from avatar_cli.media.decoding import Image, read_frames

SECONDS = 8  # of each clip, from its start


@dataclass(frozen=True)
class Clip:
    """A recording; its sound is `lag` frames of 1/25 s behind the mouth in the file itself."""

    file: str
    lag: int = 0

    @property
    def name(self) -> str:
        """Without the ending."""
        return Path(self.file).stem


CLIPS = (
    Clip("g_swiz3n_grid_360x288.mpg"),
    Clip("g_lbbc2a_grid_360x288.mpg"),
    Clip("g_sbia1a_grid_360x288.mpg"),
    Clip("g_sbwe5n_grid_360x288.mpg"),
    Clip("g_swwp2s_grid_360x288.mpg"),
    Clip("h_man_address_450_20s.mp4", lag=6),
    Clip("i_older_man_458.mp4", lag=-2),
    Clip("l_man_couch_1080x1920.mp4", lag=3),
    Clip("l_woman_garden_1080x1920.mp4", lag=0),
)

# A still shows the mouth as closed as in this share of the frames; of these, the half with the widest eyes.
CLOSED_SHARE = 0.12
OPEN_EYES_SHARE = 0.5


def track_clip(path: Path) -> tuple[FaceTrack, Image]:
    """The face over the first 8 s at 25 frames/s, and the frame to render from."""
    frames = list(read_frames(path, fps=TRACK_FPS, seconds=SECONDS))
    track = track_frames(frames)
    return track, frames[still_frame(track)]


def still_frame(track: FaceTrack) -> int:
    """The frame with closed mouth and open eyes that is nearest to a frontal head with lips at rest."""
    closed = track.opening <= np.quantile(track.opening, CLOSED_SHARE)
    awake = track.lid_opening >= np.quantile(track.lid_opening[closed], 1 - OPEN_EYES_SHARE)
    chosen = np.flatnonzero(closed & awake)
    # A radian of turn counts like lips that are wider or more pursed than usual by one eye distance.
    strain = track.turn + np.abs(track.width - np.median(track.width))
    return int(chosen[strain[chosen].argmin()])
