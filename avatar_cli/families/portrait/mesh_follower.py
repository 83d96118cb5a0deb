"""One face through the frames of a video, found once and then followed."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.face_mesh import Face
from avatar_cli.families.portrait.speaker import countable, middle_of_the_eyes, speaker_of
from avatar_cli.families.portrait.tracker import FaceTracker
from avatar_cli.media.video_reference import VideoFrame

_ROWS = 32  # every so many rows are compared first


class MeshFollower:
    """Says in every frame where the person is.

    The first frame that shows a face decides who it is: the largest, or the one `chosen`, counted from the
    left from 1. Within a shot the face is followed from frame to frame by its mesh; after a cut or a gap, and
    where it was lost, the face nearest to where it was last is taken up.

    Attributes:
        faces: How many the deciding frame shows; 0 before it.
    """

    def __init__(self, path: Path, chosen: int | None, tracker: FaceTracker) -> None:
        self.faces = 0
        self._path = path
        self._chosen = chosen
        self._tracker = tracker
        self._last: Face | None = None  # where it was seen last
        self._seen = False  # in the frame before
        self._frame: VideoFrame | None = None

    def see(self, frame: VideoFrame, cut: bool = False) -> Face | None:
        """The face in the next frame, None where it is not seen.

        Args:
            frame: The frame.
            cut: Whether another shot begins with it.

        Raises:
            UsageError: The deciding frame shows fewer faces than were chosen from.
        """
        before, self._frame = self._frame, frame
        begins = before is None or before.run != frame.run or cut
        if before is not None and self._seen and _equal(before.pixels, frame.pixels):
            return self._last  # a slow video gives frames twice
        face = None
        if self._seen and not begins and self._last is not None:
            face = self._tracker.follow(frame.pixels, self._last)
        if face is None:
            face = self._find(frame, search=begins)
        self._seen = face is not None
        self._last = face or self._last
        return face

    def _find(self, frame: VideoFrame, search: bool) -> Face | None:
        """Looks at the whole frame; the long search for small or dark faces is for the start of a run."""
        found = self._tracker.faces(frame.pixels, every=self.faces != 1, search=search)
        if not found:
            return None
        if self.faces == 0 or self._last is None:
            speaker = speaker_of(self._path, found, self._chosen)
            self.faces = speaker.faces
            return speaker.face
        x, y = middle_of_the_eyes(self._last)

        def distance(face: Face) -> float:
            other_x, other_y = middle_of_the_eyes(face)
            return (other_x - x) ** 2 + (other_y - y) ** 2

        return min(countable(found), key=distance)


def _equal(pixels: NDArray[np.uint8], other: NDArray[np.uint8]) -> bool:
    """Whether two frames are one; few of their rows tell most that are not."""
    return np.array_equal(pixels[::_ROWS], other[::_ROWS]) and np.array_equal(pixels, other)
