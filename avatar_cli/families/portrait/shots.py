"""The shots of a reference video, and which of them show the person."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.best_frames import BestFrames
from avatar_cli.families.portrait.face_mesh import Face
from avatar_cli.families.portrait.frame_facts import FrameFacts
from avatar_cli.families.portrait.same_person import is_same_person
from avatar_cli.media.video_reference import VideoFrame


@dataclass
class _Shot:
    seen: list[FrameFacts] = field(default_factory=list)
    best: BestFrames = field(default_factory=BestFrames)


class ShotsOfPerson:
    """Keeps what the first shot with a face shows, and of later ones those that show the same person.

    A shot is judged as a whole when it has ended, by the medians of its frontal frames; until then its best
    frames are kept beside those of the person. One without a frontal face tells nothing and is passed over.

    Attributes:
        seen: The frames that count, in order.
        best: The best of them.
        left_out: How many frames show a face that is not taken for the person's.
        left_out_from: When the first of them is seen, seconds; None where there are none.
    """

    def __init__(self) -> None:
        self.seen: list[FrameFacts] = []
        self.best = BestFrames()
        self.left_out = 0
        self.left_out_from: float | None = None
        self._passing = _Shot()

    def take(self, frame: VideoFrame, face: Face, facts: FrameFacts) -> None:
        """The next frame of the shot that is passing."""
        self._passing.best.offer(frame, face, facts)
        self._passing.seen.append(facts)

    def end_shot(self) -> None:
        """What comes next is another shot, or nothing."""
        shot, self._passing = self._passing, _Shot()
        known, new = _colours(self.seen), _colours(shot.seen)
        if not self.seen or (new is not None and (known is None or is_same_person(known, new))):
            self.seen += shot.seen
            self.best.take_better(shot.best)
        elif new is not None:
            self.left_out += len(shot.seen)
            if self.left_out_from is None:
                self.left_out_from = shot.seen[0].seconds


def _colours(seen: list[FrameFacts]) -> NDArray[np.float32] | None:
    """Medians over the frontal frames, float32 [128, 3]; None where there are none."""
    frontal = [facts.colours for facts in seen if facts.frontal]
    return np.median(frontal, axis=0).astype(np.float32) if frontal else None
