"""What a face does over time, in numbers, measured block by block: of a long video no meshes are kept."""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.tracks import FaceTrack, remove_pose
from avatar_cli.families.portrait.geometry import Pose, fit_pose, relative_pose
from avatar_cli.families.portrait.latents import MOUTH, POSE
from avatar_cli.families.portrait.measures import measure_upper_face

Floats = NDArray[np.float32]

UPPER_MEASURES = ("lid_opening", "brow_y", "lower_lid_y", "gaze_x", "gaze_y")
# The face whose mean is the frame of reference is that of the first minute.
FRAMES_FOR_THE_MEAN = 1500
_BLOCK = 250


@dataclass(frozen=True)
class FaceCurves:
    """Measures of T frames at 25 frames/s.

    Attributes:
        mouth: The nine distances of `latents.MOUTH`, head pose removed, float32 [T, 9], e.
        upper: `UPPER_MEASURES` of both eyes' mean, float32 [T, 5]; e, gaze in iris radii.
        pose: `latents.POSE` against the first frame, float32 [T, 6].
        image_opening: Inner-lip gap as a viewer sees it over the distance of the eyes, float32 [T].
        seen: bool [T], False where no face was found and an earlier frame stands in.
    """

    mouth: Floats
    upper: Floats
    pose: Floats
    image_opening: Floats
    seen: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.seen)

    @property
    def opening(self) -> Floats:
        """Gap between the inner lips, float32 [T], e."""
        return self.mouth[:, MOUTH.index("gap")]

    @property
    def width(self) -> Floats:
        """Distance of the mouth's corners, float32 [T], e."""
        return self.mouth[:, MOUTH.index("width")]

    @property
    def jaw(self) -> Floats:
        """Height of the chin below its place in the mean face, float32 [T], e."""
        return self.mouth[:, MOUTH.index("jaw_drop")]

    @property
    def lids(self) -> Floats:
        """Height of the eye slits, float32 [T], e."""
        return self.upper[:, UPPER_MEASURES.index("lid_opening")]

    @property
    def angles(self) -> Floats:
        """Yaw, pitch and roll against the first frame, float32 [T, 3], degrees."""
        return np.degrees(self.pose[:, : POSE.index("roll") + 1])

    def part(self, frames: slice) -> "FaceCurves":
        """Some of the frames."""
        return FaceCurves(*(getattr(self, field.name)[frames] for field in fields(self)))


class CurveRecorder:
    """Takes the meshes of a video one by one and keeps only their measures.

    The first minute is kept until its mean face is known; then meshes are measured and forgotten.
    """

    def __init__(self) -> None:
        self._landmarks: list[Floats] = []
        self._seen: list[bool] = []
        self._parts: list[FaceCurves] = []
        self._mean: NDArray[np.float64] | None = None
        self._first: Pose | None = None

    def push(self, landmarks: Floats, seen: bool) -> None:
        """One frame's mesh [478, 3] in pixels, and whether it is this frame's own."""
        self._landmarks.append(landmarks)
        self._seen.append(seen)
        if len(self._seen) >= (FRAMES_FOR_THE_MEAN if self._mean is None else _BLOCK):
            self._measure()

    def finish(self) -> FaceCurves:
        """All curves."""
        if self._seen:
            self._measure()
        columns = zip(
            *([getattr(part, field.name) for field in fields(part)] for part in self._parts), strict=True
        )
        return FaceCurves(*(np.concatenate(column) for column in columns))

    def _measure(self) -> None:
        landmarks = np.stack(self._landmarks)
        if self._mean is None:
            canonical, poses = remove_pose(landmarks)
            self._mean, self._first = canonical.mean(axis=0).astype(np.float64), poses[0]
        else:
            mean = self._mean
            poses = tuple(fit_pose(mesh, mean) for mesh in landmarks)
            meshes = [pose.to_canonical(mesh) for pose, mesh in zip(poses, landmarks, strict=True)]
            canonical = np.stack(meshes).astype(np.float32)
        assert self._first is not None
        track = FaceTrack(landmarks, canonical, poses, np.array(self._seen))
        self._parts.append(curves_of(track, self._first))
        self._landmarks, self._seen = [], []


def curves_of(track: FaceTrack, first: Pose | None = None) -> FaceCurves:
    """The measures of a track, its poses relative to `first`, or to that of its first frame."""
    upper = measure_upper_face(track.canonical)
    reference = first or track.poses[0]
    return FaceCurves(
        mouth=track.mouth,
        upper=np.stack([getattr(upper, name) for name in UPPER_MEASURES], axis=1),
        pose=np.stack([relative_pose(pose, reference) for pose in track.poses]),
        image_opening=track.image_opening.astype(np.float32),
        seen=track.seen,
    )
