"""Encodes the photo or video of a person once per job: canvas, mesh, pose, person mask, reference tokens."""

from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.canvas import Canvas, compose
from avatar_cli.families.portrait.compositing import plain_colours
from avatar_cli.families.portrait.decoder.interior_layers import Sight, shown_upper_teeth
from avatar_cli.families.portrait.decoder.light import lip_colour, tooth_colour
from avatar_cli.families.portrait.face_mesh import Face
from avatar_cli.families.portrait.face_view import FaceView
from avatar_cli.families.portrait.geometry import Pose, personal_pose
from avatar_cli.families.portrait.habits import USUAL, Habits
from avatar_cli.families.portrait.landmarks import BLENDSHAPES, FACE_OVAL, INNER_UPPER_LIP
from avatar_cli.families.portrait.latents import CHANNELS, MOUTH
from avatar_cli.families.portrait.measures import measure_mouth
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from avatar_cli.families.portrait.person_mask import PersonMasker, mask_person, person_of_cutout
from avatar_cli.families.portrait.reference_video import WatchedVideo
from avatar_cli.families.portrait.speaker import find_speaker, seen_pixels
from avatar_cli.families.portrait.suitability import check_suitable, face_warnings
from avatar_cli.families.portrait.tokens import reference_tokens
from avatar_cli.families.portrait.tracker import FaceTracker
from avatar_cli.media.background import DEFAULT_BACKGROUND
from avatar_cli.media.image_in import Photo
from avatar_cli.media.sizes import round_to_even
from avatar_cli.protocol.job import Fit, Picture

Floats = NDArray[np.float32]

# An open mouth has the jaw lowered by this share of the gap beyond a gap that parted lips alone make.
JAW_SHARE = 0.8
GAP_OF_PARTED_LIPS = 0.10
# It has the upper lip raised by this share of the gap, as in speech, where its teeth do not tell.
UPPER_LIP_SHARE = 0.3
# The teeth tell: behind closed lips they reach this far below the seam, e, and in a grin they show more
# because the upper lip is raised, while the jaw is where it was.
TEETH_BELOW_SEAM = 0.03
TEETH_SEEN_AT = 80.0  # px of 1 e: on larger pictures lines within the teeth are taken for their edge
LEAST_UPPER_LIP_SHARE, MOST_UPPER_LIP_SHARE = 0.15, 0.7
# What a full smile adds to the mouth and speaking takes back, e, as the landmark network reads it drawn: the
# mouths that grin in the photos of `training/reading.py` are 0.2 wider. Corners keep a part of their rise.
SMILE = {"width": 0.14, "corner_y": -0.055}


@dataclass(frozen=True)
class PortraitReference:
    """What the family keeps of the photo.

    Attributes:
        image: uint8 [H, W, 3], RGB: the canvas, the photo over the scene.
        cutout: uint8 [H, W, 4], RGBA, premultiplied: the photo without the scene; None where it is opaque.
        picture: The photo's part of the canvas, without bars.
        landmarks: float32 [478, 3], the mesh on the canvas, pixels.
        blendshapes: float32 [52], expression scores of the photo.
        person: float32 [H, W], probability of a person; 1 on the face.
        pose: Head pose on the canvas; its scale is pixels per e.
        canonical: float32 [478, 3], the mesh without its pose, e: `pose.to_canonical(landmarks)`.
        tokens: float32 [128, 12], reference tokens.
        rest: float32 [21], the photo's own motion latents against a closed neutral mouth.
        warnings: What will not look well, one sentence each.
        habits: How the person moves, as a reference video tells it; the usual for a photo.
        open_mouth: The person with an open mouth, from a reference video that shows it.
        closed_eyes: The person with closed lids, from a reference video that shows them.
    """

    image: NDArray[np.uint8]
    cutout: NDArray[np.uint8] | None
    picture: Box
    landmarks: Floats
    blendshapes: Floats
    person: Floats
    pose: Pose
    canonical: Floats
    tokens: Floats
    rest: Floats
    warnings: tuple[str, ...]
    habits: Habits = USUAL
    open_mouth: FaceView | None = None
    closed_eyes: FaceView | None = None

    @property
    def eye_distance(self) -> float:
        """Pixels per e."""
        return self.pose.scale


def encode_reference(
    photo: Photo, scene: NDArray[np.uint8], picture: Picture, tracker: FaceTracker, masker: PersonMasker
) -> PortraitReference:
    """Finds the face and composes the canvas.

    Args:
        photo: The picture of the person.
        scene: uint8 [height, width, 3], RGB: what is seen in bars and behind a cut-out person.
        picture: Size of the video, how the photo is brought to its shape, and whose face speaks.
        tracker: Finds the face.
        masker: Finds the person.

    Raises:
        InputError: The photo shows no face, or one that is too small or cut too much.
        UsageError: It shows fewer faces than `picture.face`.
    """
    seen = seen_pixels(photo)
    speaker = find_speaker(photo.path, seen, picture.face, tracker)
    choice = _choice_warnings("The picture", speaker.faces, picture)
    return _encoded(photo, seen, speaker.face, scene, picture, masker, choice)


def encode_video_reference(
    path: Path, watched: WatchedVideo, scene: NDArray[np.uint8], picture: Picture, masker: PersonMasker
) -> PortraitReference:
    """Composes the canvas from the best frame of a video and adds what the others tell.

    Arguments as in `encode_reference`; `path` is the video's.

    Raises:
        InputError: Even the best frame shows the face too small or cut too much.
    """
    photo = Photo(path, watched.neutral.pixels, opacity=None)
    choice = _choice_warnings("The video", watched.faces, picture)
    face = watched.neutral.face
    reference = _encoded(photo, photo.pixels, face, scene, picture, masker, choice, watched.tokens)
    return replace(
        reference,
        habits=watched.habits,
        open_mouth=watched.open_mouth,
        closed_eyes=watched.closed_eyes,
    )


def _encoded(
    photo: Photo,
    seen: NDArray[np.uint8],
    face: Face,
    scene: NDArray[np.uint8],
    picture: Picture,
    masker: PersonMasker,
    choice: list[str],
    tokens: Floats | None = None,
) -> PortraitReference:
    """What this one picture tells; the reference tokens are made of it where they are not given."""
    check_suitable(photo.path, seen, face)
    canvas = compose(photo, face.landmarks, scene, picture.fit)
    landmarks = _moved(face.landmarks, canvas.transform)
    shape = load_motion_basis().shape
    pose, canonical = personal_pose(landmarks, shape)
    return PortraitReference(
        image=canvas.image,
        cutout=canvas.cutout,
        picture=canvas.picture,
        landmarks=landmarks,
        blendshapes=face.blendshapes,
        person=np.maximum(
            _person(canvas, landmarks, masker), _face_mask(landmarks, picture.width, picture.height)
        ),
        pose=pose,
        canonical=canonical.astype(np.float32),
        tokens=reference_tokens(canvas.image, landmarks, shape) if tokens is None else tokens,
        rest=resting_latents(canonical, _smile(face), _shown_teeth(canvas.image, landmarks, pose)),
        warnings=(*choice, *face_warnings(seen, face), *_scene_warnings(canvas, picture)),
    )


def resting_latents(canonical: NDArray, smile: float, teeth: float | None = None) -> Floats:
    """The photo's own latents [21] against a closed neutral mouth.

    From its canonical mesh [478, 3] comes the opening: `gap`, and the parts of it that jaw and upper lip
    make. `smile` in 0..1 is its expression score, from which the corners follow, `teeth` how far the upper
    teeth are seen to reach below the upper lip, e. Latents minus these are relative to the photo, so that
    equal latents close every mouth, and a lip that is raised already is not raised once more, above the teeth
    that the photo shows.
    """
    rest = np.zeros(len(CHANNELS), np.float32)
    for channel, full in SMILE.items():
        rest[CHANNELS.index(channel)] = smile * full
    gap = max(0.0, float(measure_mouth(canonical)[MOUTH.index("gap")]))
    usual = raised = UPPER_LIP_SHARE * gap
    if teeth is not None:
        raised = float(
            np.clip(teeth - TEETH_BELOW_SEAM, LEAST_UPPER_LIP_SHARE * gap, MOST_UPPER_LIP_SHARE * gap)
        )
    parted = GAP_OF_PARTED_LIPS + max(0.0, raised - usual)
    rest[CHANNELS.index("gap")] = gap
    rest[CHANNELS.index("upper_lip_y")] = -raised
    rest[CHANNELS.index("jaw_drop")] = JAW_SHARE * max(0.0, gap - parted)
    return rest


def _shown_teeth(image: NDArray[np.uint8], landmarks: Floats, pose: Pose) -> float | None:
    """How far the upper teeth reach below the upper lip, e; None where none are seen.

    Looked at in one size, so that a person moves alike in videos of every size.
    """
    factor = TEETH_SEEN_AT / pose.scale
    image = np.asarray(cv2.resize(image, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA), np.uint8)
    half = np.array([0.5, 0.5, 0.0])  # the first pixel's centre
    landmarks = ((landmarks + half) * factor - half).astype(np.float32)
    pose = Pose(TEETH_SEEN_AT, pose.rotation, (pose.translation + half) * factor - half)
    points = landmarks[:, :2].astype(np.float64)
    lips, tooth = lip_colour(image, points), tooth_colour(image, points, pose.scale)
    seam = pose.to_canonical(landmarks.astype(np.float64))[INNER_UPPER_LIP[len(INNER_UPPER_LIP) // 2]]
    return shown_upper_teeth(Sight(image, points, pose, seam, 1.0, lips, tooth))


def _smile(face: Face) -> float:
    """Mean expression score of both halves of a smile, 0..1."""
    left, right = (
        float(face.blendshapes[BLENDSHAPES.index(f"mouthSmile{side}")]) for side in ("Left", "Right")
    )
    return (left + right) / 2


def _moved(landmarks: Floats, transform: NDArray) -> Floats:
    """Landmarks on the canvas; depth grows with the mean of both scales."""
    flat = landmarks[:, :2] @ transform[:, :2].T + transform[:, 2]
    depth = landmarks[:, 2:] * np.sqrt(np.linalg.det(transform[:, :2]))
    return np.concatenate([flat, depth], axis=1).astype(np.float32)


def _person(canvas: Canvas, landmarks: Floats, masker: PersonMasker) -> Floats:
    """Where the person is on the canvas, 0..1, float32 [height, width]."""
    if canvas.cutout is None:
        return mask_person(masker, canvas.image, canvas.picture, landmarks)
    person = person_of_cutout(canvas.cutout, canvas.picture)
    if person is not None:
        return person
    # A scene that shines through would mislead the network.
    return mask_person(masker, plain_colours(canvas.cutout), canvas.picture, landmarks)


def _face_mask(landmarks: Floats, width: int, height: int) -> Floats:
    """1 within the face's outline, float32 [height, width]: segmentation misses some dark or drawn heads."""
    mask = np.zeros((height, width), np.uint8)
    cv2.fillPoly(mask, [landmarks[list(FACE_OVAL), :2].round().astype(np.int32)], (1,))
    return mask.astype(np.float32)


def _choice_warnings(what: str, faces: int, picture: Picture) -> list[str]:
    if faces == 1 or picture.face is not None:
        return []
    return [
        f"{what} shows {faces} faces and the largest speaks: choose another with "
        f"--face 1 to {faces}, counted from the left."
    ]


def _scene_warnings(canvas: Canvas, picture: Picture) -> list[str]:
    if picture.fit is Fit.CROP and canvas.picture != Box(0, 0, picture.width, picture.height):
        width, height = round_to_even(canvas.picture.width, canvas.picture.height)
        return [
            "Bars appear, because the head would be cut without them: choose a size nearer to the picture's "
            f"shape, such as --size {width}x{height}."
        ]
    if canvas.shows_scene or picture.background == DEFAULT_BACKGROUND:
        return []
    return [
        "The background is not seen: the picture of the person is opaque and fills the video, "
        "use one with a transparent background."
    ]
