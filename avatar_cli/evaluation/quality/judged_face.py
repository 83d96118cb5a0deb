"""The face of a video that is judged, also where others are beside it."""

from pathlib import Path

import numpy as np

from avatar_cli.families.portrait.face_mesh import Face
from avatar_cli.families.portrait.speaker import find_speaker
from avatar_cli.families.portrait.tracker import FaceTracker
from avatar_cli.media.decoding import Image

COUNT_EVERY = 50  # frames: faces that come and go within two seconds may be missed


class JudgedFace:
    """Finds in every frame the face of the frame before.

    Each frame is measured on its own, so that no smoothing hides what the video does.
    """

    def __init__(self, path: Path, chosen: int | None = None) -> None:
        """Loads the landmark networks.

        Args:
            path: The video, for what is said of it.
            chosen: Which face to follow, from 1, counted from the left in the first frame that shows any;
                None for the largest.
        """
        self._path, self._chosen = path, chosen
        self._tracker = FaceTracker()
        self._last: Face | None = None
        self._frames = 0
        self.most = 0  # faces seen at once

    def find(self, image: Image) -> Face | None:
        """The face in uint8 [H, W, 3] RGB, or None where it is not to be seen.

        Raises:
            UsageError: the first frame with a face shows fewer than were to be counted.
        """
        faces = self._tracker.faces(image)
        if faces and self._frames % COUNT_EVERY == 0:
            self.most = max(self.most, find_speaker(self._path, image, None, self._tracker).faces)
        self._frames += 1
        face = self._first(image, faces) if self._last is None else self._next(image, faces, self._last)
        self._last = face or self._last
        return face

    def _first(self, image: Image, faces: list[Face]) -> Face | None:
        if not faces or self._chosen is None:
            return next(iter(faces), None)
        return find_speaker(self._path, image, self._chosen, self._tracker).face

    def _next(self, image: Image, faces: list[Face], last: Face) -> Face | None:
        """The same face again; after a cut the largest, unless one was chosen."""
        same = _nearest(faces, last)
        if same is None and (self._chosen is not None or self.most > 1):
            same = _nearest(self._tracker.faces(image, every=True), last)
        if same is None and self._chosen is None:
            return next(iter(faces), None)
        return same


def _nearest(faces: list[Face], last: Face) -> Face | None:
    def distance(face: Face) -> float:
        return float(np.linalg.norm(_middle(face) - _middle(last)))

    near = [face for face in faces if distance(face) < last.extent / 2]
    return min(near, key=distance, default=None)


def _middle(face: Face) -> np.ndarray:
    return np.asarray(face.landmarks[:, :2].mean(axis=0))
