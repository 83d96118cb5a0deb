"""Which face of the photo speaks."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.compositing import composite, premultiplied
from avatar_cli.families.portrait.face_mesh import Face
from avatar_cli.families.portrait.geometry import eye_distance
from avatar_cli.families.portrait.landmarks import OUTER_EYE_CORNERS
from avatar_cli.families.portrait.tracker import FaceTracker
from avatar_cli.families.portrait.upside_down import is_upside_down, shows_upside_down
from avatar_cli.media.image_in import Photo
from avatar_cli.protocol.errors import InputError, UsageError

Image = NDArray[np.uint8]  # [H, W, 3], RGB

NEUTRAL_GRAY = 128
# Faces below this share of the largest one are of the background: nobody counts them or means them.
LEAST_SHARE_OF_THE_LARGEST = 0.2


@dataclass(frozen=True)
class Speaker:
    """The face that speaks, and how many the photo shows."""

    face: Face
    faces: int


def seen_pixels(photo: Photo) -> Image:
    """The photo as uint8 [H, W, 3] RGB, a cut-out over gray: under transparency a file holds anything."""
    if photo.opacity is None:
        return photo.pixels
    seen = np.empty_like(photo.pixels)
    gray = np.full_like(photo.pixels, NEUTRAL_GRAY)
    composite(premultiplied(photo.pixels, photo.opacity), gray, seen)
    return seen


def find_speaker(path: Path, image: Image, chosen: int | None, tracker: FaceTracker) -> Speaker:
    """The largest face of uint8 [H, W, 3] RGB, or the one `chosen`, counted from the left from 1.

    Raises:
        InputError: It shows no face, or shows it upside down.
        UsageError: It shows fewer faces than `chosen`.
    """
    found = tracker.faces(image, every=True)
    if not found:
        if shows_upside_down(image, tracker):
            raise InputError(_on_its_head(path))
        raise InputError(
            f"No face was found in {path}: use a picture that shows one face from the front, well lit."
        )
    speaker = speaker_of(path, found, chosen)
    if is_upside_down(image, speaker.face, tracker):
        raise InputError(_on_its_head(path))
    return speaker


def speaker_of(path: Path, found: list[Face], chosen: int | None) -> Speaker:
    """The largest of these faces, or the one `chosen`, counted from the left from 1.

    Raises:
        UsageError: There are fewer than `chosen`.
    """
    faces = countable(found)
    if chosen is None:
        return Speaker(faces[0], len(faces))
    if chosen > len(faces):
        raise UsageError(_beyond(path, chosen, len(faces)))
    return Speaker(sorted(faces, key=lambda face: middle_of_the_eyes(face)[0])[chosen - 1], len(faces))


def countable(found: list[Face]) -> list[Face]:
    """The faces that are not of the background, largest first as they come."""
    sizes = [eye_distance(face.landmarks) for face in found]
    smallest = LEAST_SHARE_OF_THE_LARGEST * max(sizes)
    return [face for face, size in zip(found, sizes, strict=True) if size >= smallest]


def middle_of_the_eyes(face: Face) -> tuple[float, float]:
    """Where a face is: x and y, pixels."""
    x, y = face.landmarks[list(OUTER_EYE_CORNERS), :2].mean(axis=0)
    return float(x), float(y)


def _on_its_head(path: Path) -> str:
    return f"The face in {path} is upside down: turn the picture by 180 degrees."


def _beyond(path: Path, chosen: int, count: int) -> str:
    if count == 1:
        return f"{path} shows one face, so there is no --face {chosen}: leave it out."
    return (
        f"{path} shows {count} faces, so there is no --face {chosen}: "
        f"choose 1 to {count}, counted from the left."
    )
