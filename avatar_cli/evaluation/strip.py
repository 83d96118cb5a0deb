"""Looking at a video over time: `python -m avatar_cli.evaluation.strip VIDEO -o PNG`.

One row of pictures, or several, each labelled with its frame number; `--crop` follows the face or the mouth.
`--beside CLIP` puts the real person's frames, both at 25 frames/s, below those that were rendered.
"""

import argparse
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.tracks import TRACK_FPS
from avatar_cli.families.portrait.landmarks import FACE_OVAL, LIPS
from avatar_cli.families.portrait.tracker import FaceTracker
from avatar_cli.media.decoding import Image, read_frames

_LABEL_HEIGHT = 16
CROPS = {"face": (FACE_OVAL, 1.25), "mouth": (LIPS, 1.5)}


def crop_around(image: Image, points: NDArray[np.floating], margin: float) -> Image:
    """The square around points [P, 2] in pixels, `margin` times as large, edges repeated outside."""
    low, high = points.min(axis=0), points.max(axis=0)
    side = max(2, round(float((high - low).max()) * margin))
    left, top = np.round((low + high) / 2 - side / 2).astype(int)
    padded = cv2.copyMakeBorder(image, side, side, side, side, cv2.BORDER_REPLICATE)
    top = int(np.clip(top, -side, image.shape[0])) + side
    left = int(np.clip(left, -side, image.shape[1])) + side
    return np.asarray(padded[top : top + side, left : left + side], np.uint8)


def contact_sheet(images: Sequence[Image], labels: Sequence[str], columns: int, width: int) -> Image:
    """Images of one shape, scaled to `width` pixels, in rows of `columns`, a label above each."""
    cells = [_cell(image, label, width) for image, label in zip(images, labels, strict=True)]
    blank = np.zeros_like(cells[0])
    cells += [blank] * (-len(cells) % columns)
    rows = [np.hstack(cells[start : start + columns]) for start in range(0, len(cells), columns)]
    return np.vstack(rows)


def _cell(image: Image, label: str, width: int) -> Image:
    height = round(image.shape[0] * width / image.shape[1])
    smaller = width < image.shape[1]
    scaled = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA if smaller else cv2.INTER_CUBIC)
    bar = np.zeros((_LABEL_HEIGHT, width, 3), np.uint8)
    cv2.putText(bar, label, (3, 12), cv2.FONT_HERSHEY_SIMPLEX, 0.4, (255, 255, 255), 1, cv2.LINE_AA)
    return np.vstack([bar, scaled]).astype(np.uint8)


def video_strip(video: Path, frames: range, crop: str, columns: int, width: int) -> Image:
    """A contact sheet of some frames of a video.

    Args:
        video: File to look at.
        frames: Numbers of the frames, from 0.
        crop: `frame`, `face` or `mouth`; frames without a face are shown black.
        columns: Pictures in a row.
        width: Pixels of one picture.

    Raises:
        ValueError: the video has none of the frames.
    """
    images = chosen_images(video, frames, crop)
    return contact_sheet(list(images.values()), [str(index) for index in images], columns, width)


def strip_beside(
    video: Path, real: Path, frames: range, lag: int, crop: str, columns: int, width: int
) -> Image:
    """A contact sheet of a rendered video with the frames of the recording below, at 25 frames/s.

    Args:
        video: Rendered from the sound of the recording.
        real: The recording.
        frames: Numbers of the rendered frames.
        lag: Frames by which the recording's sound lies behind its picture: below frame t stands t - lag.
        crop: `face` or `mouth`.
        columns: Pictures in a row.
        width: Pixels of one picture.

    Raises:
        ValueError: one of the videos has none of the frames.
    """
    shown = chosen_images(video, frames, crop, TRACK_FPS)
    earlier = range(frames.start - lag, frames.stop - lag, frames.step)
    others = chosen_images(real, earlier, crop, TRACK_FPS)
    both = [index for index in shown if index - lag in others]
    rows = []
    for start in range(0, len(both), columns):
        line = both[start : start + columns]
        for images, name, late in ((shown, "rendered", 0), (others, "real", lag)):
            labels = [f"{name} {index - late}" for index in line]
            rows.append(contact_sheet([images[index - late] for index in line], labels, columns, width))
    return np.vstack(rows).astype(np.uint8)


def chosen_images(video: Path, frames: range, crop: str, fps: Fraction | None = None) -> dict[int, Image]:
    """Pictures of a video, at `fps`, by the number of their frame; all else as in `video_strip`."""
    wanted = set(frames)
    chosen = {}
    for index, frame in enumerate(read_frames(video, fps=fps)):
        if index in wanted:
            chosen[index] = frame
        if index >= max(wanted):
            break
    if not chosen:
        raise ValueError(f"{video} has no frame {min(wanted)}")
    if crop == "frame":
        return chosen
    return dict(zip(chosen, _follow(list(chosen.values()), crop), strict=True))


def _follow(images: Sequence[Image], crop: str) -> list[Image]:
    """Square crops of the same size around each image's own face or mouth."""
    tracker = FaceTracker()
    points, margin = CROPS[crop]
    crops = []
    for image in images:
        face = tracker.track(image)
        around = np.zeros((2, 2, 3), np.uint8)
        if face is not None:
            around = crop_around(image, face.landmarks[list(points), :2], margin)
        crops.append(around)
    side = max(image.shape[0] for image in crops)
    return [np.asarray(cv2.resize(image, (side, side)), np.uint8) for image in crops]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="A contact sheet of a video over time.")
    parser.add_argument("video", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True, help="PNG to write")
    parser.add_argument("--start", type=int, default=0, help="first frame (default 0)")
    parser.add_argument("--count", type=int, default=24, help="most pictures (default 24)")
    parser.add_argument("--every", type=int, default=5, help="frames from picture to picture (default 5)")
    parser.add_argument("--crop", choices=["frame", *CROPS], default="face")
    parser.add_argument("--columns", type=int, default=8)
    parser.add_argument("--width", type=int, default=200, help="pixels of one picture (default 200)")
    parser.add_argument("--beside", type=Path, metavar="CLIP", help="recording to show below")
    parser.add_argument("--lag", type=int, default=0, help="frames by which CLIP's sound is late (default 0)")
    options = parser.parse_args()
    if options.beside and options.crop == "frame":
        parser.error("--beside needs --crop face or mouth: whole frames have other shapes")
    frames = range(options.start, options.start + options.count * options.every, options.every)
    shape = (options.crop, options.columns, options.width)
    if options.beside:
        sheet = strip_beside(options.video, options.beside, frames, options.lag, *shape)
    else:
        sheet = video_strip(options.video, frames, *shape)
    cv2.imwrite(str(options.output), cv2.cvtColor(sheet, cv2.COLOR_RGB2BGR))


if __name__ == "__main__":
    main()
