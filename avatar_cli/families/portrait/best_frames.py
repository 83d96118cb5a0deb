"""The frames of a reference video that are kept: one to render from, one with an open mouth, one with closed
lids.

Every frame is judged by itself as it passes, by sums in which what belongs to the person (heavy lids, a soft
lens, a smiling mouth) weighs on all frames alike, so that only one frame of each kind is ever in memory.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.face_cut import cut_around
from avatar_cli.families.portrait.face_mesh import Face
from avatar_cli.families.portrait.face_view import FaceView
from avatar_cli.families.portrait.frame_facts import FrameFacts
from avatar_cli.families.portrait.landmarks import FACE_OVAL
from avatar_cli.media.video_reference import VideoFrame

OPEN_GAP = 0.10  # e; from here on teeth can be seen
WIDE_GAP = 0.28  # e; opening further shows no more of them
CLOSED_LIDS = 0.35  # of the usual height of the eye slits: blinks go down to 0.04 to 0.21 of it
LEAST_SHARPNESS = 0.6  # of the usual one; below, the frame is blurred by motion
_MIDDLE_GRAY = 118.0
_AROUND = 0.35  # of the face's size, that a view shows beyond it


@dataclass(frozen=True)
class KeptFrame:
    """A frame in memory.

    Attributes:
        pixels: uint8 [H, W, 3], RGB.
        face: Its mesh in pixels of it.
        facts: What it shows.
    """

    pixels: NDArray[np.uint8]
    face: Face
    facts: FrameFacts


def neutral_fault(facts: FrameFacts) -> float:
    """How unlike a passport photo a frame is; 1 is about what is seen at first glance.

    10 degrees of turn, lips parted by 0.05 e, lids a quarter closed, a look aside by 0.4, a smile, brows or
    rounded lips by 0.5, detail blurred to 0.37 of what it was, light off by two stops, or a twentieth of the
    face cut count 1 each; a face that is too small or too turned to be measured counts 20 more.
    """
    return (
        math.degrees(facts.turn) / 10
        + max(0.0, facts.gap) / 0.05
        + 4 * facts.shut
        + facts.aside / 0.4
        + facts.expression / 0.5
        - math.log(facts.sharpness + 1e-6)
        + abs(math.log2((facts.brightness + 1) / _MIDDLE_GRAY)) / 2
        + 20 * facts.outside
        + (0 if facts.frontal else 20)
    )


def open_mouth_fault(facts: FrameFacts) -> float:
    """How badly a frame shows teeth: 0.05 e of opening missing counts 1, the rest as in `neutral_fault`."""
    return (
        (WIDE_GAP - min(facts.gap, WIDE_GAP)) / 0.05
        + math.degrees(facts.turn) / 10
        - math.log(facts.sharpness + 1e-6)
        + 20 * facts.outside
        + (0 if facts.frontal else 20)
    )


def closed_eyes_fault(facts: FrameFacts) -> float:
    """How badly a frame shows closed lids: 0.02 e of eye slit count 1, the rest as in `neutral_fault`."""
    return (
        facts.lids / 0.02
        + math.degrees(facts.turn) / 10
        + facts.expression / 0.5
        - math.log(facts.sharpness + 1e-6)
        + 20 * facts.outside
        + (0 if facts.frontal else 20)
    )


class BestFrames:
    """Keeps the best frame of each kind; the last two as views of the face only."""

    def __init__(self) -> None:
        self.neutral: KeptFrame | None = None
        self._open_mouth: KeptFrame | None = None
        self._closed_eyes: KeptFrame | None = None

    def offer(self, frame: VideoFrame, face: Face, facts: FrameFacts) -> None:
        """Keep the frame if it is better than what is kept."""
        kept = KeptFrame(frame.pixels, face, facts)
        if _better(kept, self.neutral, neutral_fault):
            self.neutral = kept
        if facts.gap >= OPEN_GAP and _better(kept, self._open_mouth, open_mouth_fault):
            self._open_mouth = _cut_out(kept)
        if _better(kept, self._closed_eyes, closed_eyes_fault):
            self._closed_eyes = _cut_out(kept)

    def take_better(self, others: "BestFrames") -> None:
        """Keep of `others` what is better than what is kept."""
        if _better(others.neutral, self.neutral, neutral_fault):
            self.neutral = others.neutral
        if _better(others._open_mouth, self._open_mouth, open_mouth_fault):
            self._open_mouth = others._open_mouth
        if _better(others._closed_eyes, self._closed_eyes, closed_eyes_fault):
            self._closed_eyes = others._closed_eyes

    def open_mouth(self, sharpness: float) -> FaceView | None:
        """The view of the open mouth if there is a good one; `sharpness` is the usual one of the video."""
        kept = self._open_mouth
        if kept is None or not kept.facts.frontal or kept.facts.sharpness < LEAST_SHARPNESS * sharpness:
            return None
        return _view(kept)

    def closed_eyes(self, sharpness: float, lids: float) -> FaceView | None:
        """The view of closed lids, likewise; `lids` is the usual height of the eye slits, e."""
        kept = self._closed_eyes
        if kept is None or not kept.facts.frontal or kept.facts.sharpness < LEAST_SHARPNESS * sharpness:
            return None
        return _view(kept) if kept.facts.lids <= CLOSED_LIDS * lids else None


def _better(kept: KeptFrame | None, than: KeptFrame | None, fault: Callable[[FrameFacts], float]) -> bool:
    return kept is not None and (than is None or fault(kept.facts) < fault(than.facts))


def _cut_out(kept: KeptFrame) -> KeptFrame:
    """The part of the frame around the face, a copy, with mesh and pose in pixels of it."""
    part, first = cut_around(kept.pixels, kept.face.landmarks[list(FACE_OVAL)], _AROUND)
    moved = kept.face.landmarks - first
    pose = replace(kept.facts.pose, translation=kept.facts.pose.translation - first)
    return KeptFrame(
        pixels=part.copy(),
        face=replace(kept.face, landmarks=moved),
        facts=replace(kept.facts, landmarks=moved, pose=pose),
    )


def _view(kept: KeptFrame) -> FaceView:
    facts = kept.facts
    return FaceView(kept.pixels, facts.landmarks, facts.pose, facts.canonical)
