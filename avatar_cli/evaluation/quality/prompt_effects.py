"""What a prompt changes in a rendered face: measures against the same render without one."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.quality.closures import closures
from avatar_cli.evaluation.quality.curves import UPPER_MEASURES, FaceCurves, curves_of
from avatar_cli.evaluation.quality.head_motion import rotation_deviation
from avatar_cli.evaluation.quality.likeness import extent
from avatar_cli.evaluation.quality.mouths import mouth_curves
from avatar_cli.evaluation.quality.phones import Phone
from avatar_cli.evaluation.quality.sync import lag_against
from avatar_cli.evaluation.tracks import TRACK_FPS, FaceTrack
from avatar_cli.families.portrait.geometry import fit_pose
from avatar_cli.families.portrait.latents import MOUTH

NOD_DEGREES = 1.5  # down from the middle and back again
_SLOW = 41  # frames whose mean is the middle: what takes longer than a second and a half is no nod


@dataclass(frozen=True)
class Look:
    """A face over one video; distances in % of e, angles in degrees, positive as named.

    Attributes:
        width: Of the mouth.
        corners_up: Height of its corners.
        brows_up: Height of the brows.
        lids: Height of the eye slits, median.
        gaze_right: Of the irises, % of their radius, to the viewer's right.
        gaze_down: The same.
        turn_right: Yaw to the viewer's right.
        turn_down: Pitch.
        head: Standard deviation of yaw, pitch and roll together.
        nods: A minute.
        mouth: Range of the opening, p95 - p5.
    """

    width: float
    corners_up: float
    brows_up: float
    lids: float
    gaze_right: float
    gaze_down: float
    turn_right: float
    turn_down: float
    head: float
    nods: float
    mouth: float


FACTORS = ("head", "mouth")  # of `Look`, compared by what they are multiplied with


def look(curves: FaceCurves) -> Look:
    """Means over a video, where no range or number is asked for."""
    yaw, pitch, _ = curves.angles.T

    def upper(name: str) -> NDArray[np.float32]:
        return 100 * curves.upper[:, UPPER_MEASURES.index(name)]

    return Look(
        width=100 * float(curves.width.mean()),
        corners_up=-100 * float(curves.mouth[:, MOUTH.index("corner_y")].mean()),
        brows_up=-float(upper("brow_y").mean()),
        lids=float(np.median(upper("lid_opening"))),
        gaze_right=float(np.median(upper("gaze_x"))),
        gaze_down=float(np.median(upper("gaze_y"))),
        turn_right=float(yaw.mean()),
        turn_down=float(pitch.mean()),
        head=float(np.linalg.norm(rotation_deviation(curves.angles))),
        nods=nods(pitch) / (len(pitch) / float(TRACK_FPS) / 60),
        mouth=100 * extent(curves.opening),
    )


def changes(look: Look, without: Look) -> dict[str, float]:
    """By attribute of `Look`: factors of `FACTORS`, differences of all others."""
    found = {}
    for field in fields(Look):
        value, usual = getattr(look, field.name), getattr(without, field.name)
        found[field.name] = value / usual if field.name in FACTORS else value - usual
    return found


def nods(pitch: NDArray[np.floating]) -> int:
    """How often a head goes down and comes up again, by pitch in degrees, float [T] at 25 frames/s."""
    padded = np.pad(pitch, _SLOW // 2, mode="edge")
    fast = pitch - np.convolve(padded, np.ones(_SLOW) / _SLOW, "valid")
    count, down = 0, False
    for angle in fast:
        if angle > NOD_DEGREES / 2:
            down = True
        elif down and angle < -NOD_DEGREES / 2:
            down, count = False, count + 1
    return count


@dataclass(frozen=True)
class Lips:
    """Whether the lips still say what is said.

    Attributes:
        lag: Frames behind the mouth without a prompt, where opening, width and jaw fit best.
        closed: Bilabials with closed lips, and all of them.
    """

    lag: int
    closed: tuple[int, int]


def lips(curves: FaceCurves, without: FaceCurves, speech: NDArray[np.bool_], phones: Sequence[Phone]) -> Lips:
    """Against the same words without a prompt; `speech` bool [T]."""
    found = lag_against(mouth_curves(curves), mouth_curves(without), speech)
    return Lips(found.lag, closures(curves.opening, phones))


def curves_beside(track: FaceTrack, without: FaceTrack) -> FaceCurves:
    """Curves of a video against the mean face and the first pose of another of the same photo.

    Else a head that is turned, or a mouth that smiles, from the first frame to the last would not be seen.
    """
    shape = without.canonical.mean(axis=0).astype(np.float64)
    poses = tuple(fit_pose(mesh, shape) for mesh in track.landmarks)
    meshes = [pose.to_canonical(mesh) for pose, mesh in zip(poses, track.landmarks, strict=True)]
    canonical = np.stack(meshes).astype(np.float32)
    first = fit_pose(without.landmarks[0], shape)
    return curves_of(FaceTrack(track.landmarks, canonical, poses, track.seen), first)
