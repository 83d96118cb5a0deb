"""What a face cannot do for a talking video, told before it is made: refusals and warnings."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.face_mesh import Face
from avatar_cli.families.portrait.geometry import euler_angles, eye_distance, personal_pose
from avatar_cli.families.portrait.landmarks import BLENDSHAPES
from avatar_cli.families.portrait.latents import MOUTH
from avatar_cli.families.portrait.likeness import has_human_proportions, hides_eyes, hides_mouth
from avatar_cli.families.portrait.measures import measure_mouth
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from avatar_cli.protocol.errors import InputError

Image = NDArray[np.uint8]  # [H, W, 3], RGB

LEAST_EYE_DISTANCE = 8.0  # pixels
SMALL_EYE_DISTANCE = 40.0
CUT_SHARE, MOST_CUT_SHARE = 0.05, 0.15  # of the landmarks
TURNED_HEAD_DEGREES = 25
WIDE_OPEN_GAP = 0.3  # e
# Smiles that show teeth score 0.69 and more, other faces 0.40 at most; what counts is how far the lips are
# from the rest, e.
SMILE_SCORE, GRINNING_GAP = 0.55, 0.15
CLOSED_EYES_SCORE = 0.6
LYING_DEGREES = 45


def check_suitable(path: Path, image: Image, face: Face) -> None:
    """Raises InputError for a face of uint8 [H, W, 3] that is too small or lies too far outside."""
    distance = eye_distance(face.landmarks)
    if distance < LEAST_EYE_DISTANCE:
        raise InputError(
            f"The face in {path} is too small, {int(distance)} pixels between the eyes' outer corners: "
            f"use a larger picture of it, {SMALL_EYE_DISTANCE:.0f} pixels or more."
        )
    outside = share_outside(image, face)
    if outside > MOST_CUT_SHARE:
        raise InputError(
            f"{outside:.0%} of the face lies outside {path}: use a picture that shows the whole face."
        )


def face_warnings(image: Image, face: Face) -> list[str]:
    """What will not look well with a suitable face of uint8 [H, W, 3], one sentence each."""
    pose, canonical = personal_pose(face.landmarks, load_motion_basis().shape)
    yaw, pitch, roll = np.degrees(euler_angles(pose.rotation))
    turn = max(abs(yaw), abs(pitch))
    scores = dict(zip(BLENDSHAPES, face.blendshapes.tolist(), strict=True))
    gap = measure_mouth(canonical)[MOUTH.index("gap")]
    smile = (scores["mouthSmileLeft"] + scores["mouthSmileRight"]) / 2
    sentences = []
    clear = turn <= TURNED_HEAD_DEGREES and pose.scale >= SMALL_EYE_DISTANCE
    if clear and not has_human_proportions(canonical):
        sentences.append("This does not look like a photo of a human face: the motion may look wrong.")
    if abs(roll) > LYING_DEGREES:
        side = "left" if roll > 0 else "right"
        sentences.append(
            f"The head lies on its side, and so it will in the video: turn the picture to the {side} first."
        )
    if turn > TURNED_HEAD_DEGREES:
        sentences.append(
            f"The head is turned by {turn:.0f} degrees: expect distortion on its far side, "
            "a frontal picture looks better."
        )
    if share_outside(image, face) > CUT_SHARE:
        sentences.append("The edge of the picture cuts the face: expect distortion there.")
    mouth_is_hidden = hides_mouth(image, face.landmarks)
    if mouth_is_hidden:
        sentences.append("The mouth seems to be hidden: what hides it will move with the lips.")
    elif gap > WIDE_OPEN_GAP:
        sentences.append("The mouth is wide open: it will not close well, a closed mouth looks better.")
    elif gap > GRINNING_GAP and smile > SMILE_SCORE:
        sentences.append(
            "The smile is broad: how this mouth looks at rest is guessed, a closed mouth looks better."
        )
    if not mouth_is_hidden and hides_eyes(image, face.landmarks):
        sentences.append("The eyes seem to be hidden by dark glasses: eyes that are seen look better.")
    elif min(scores["eyeBlinkLeft"], scores["eyeBlinkRight"]) > CLOSED_EYES_SCORE:
        sentences.append("The eyes are closed in the picture: they will stay closed.")
    if pose.scale < SMALL_EYE_DISTANCE:
        sentences.append(
            f"The face is small, {pose.scale:.0f} pixels between the eyes' outer corners: "
            "the video will be blurred."
        )
    return sentences


def share_outside(image: Image, face: Face) -> float:
    """Share of the landmarks that lie outside the picture."""
    height, width = image.shape[:2]
    flat = face.landmarks[:, :2]
    return float(((flat < 0) | (flat > (width - 1, height - 1))).any(axis=1).mean())
