"""Looking at many portraits at once: `python -m avatar_cli.evaluation.contact_sheet PHOTO... -o PNG`.

Renders every photo with the same speech and puts a few frames of each in a row, named. Photos that the
product refuses are named on stderr and left out.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from avatar_cli.assets import asset_path
from avatar_cli.evaluation.command import Render, render
from avatar_cli.evaluation.strip import CROPS, chosen_images, contact_sheet
from avatar_cli.media.decoding import Image, extract_wav


def portrait_row(photo: Path, speech: Path, folder: Path, crop: str, pictures: int, width: int) -> Image:
    """Pictures of one portrait, evenly spread over its render.

    Args:
        photo: The portrait.
        speech: What it says.
        folder: For the video.
        crop: `frame`, `face` or `mouth`.
        pictures: How many.
        width: Pixels of one picture.

    Raises:
        RuntimeError: the photo cannot be rendered, with the product's words.
    """
    done = render(Render(photo, speech, folder / f"{photo.stem}.mp4", ("--size", "360p", "--fps", "25")))
    frames = done.report["speed"]["frames"]
    step = max(1, frames // pictures)
    images = chosen_images(done.output, range(step // 2, frames, step), crop)
    shown = list(images.items())[:pictures]
    return contact_sheet(
        [image for _, image in shown], [f"{photo.stem[:24]} {index}" for index, _ in shown], pictures, width
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status, 1 where no photo could be rendered."""
    options = _parser().parse_args(arguments)
    rows = []
    with tempfile.TemporaryDirectory(prefix="avatar-sheet-") as temporary:
        folder = (options.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        speech = folder / "speech.wav"
        extract_wav(options.speech, speech, seconds=options.seconds)
        for photo in options.photos:
            try:
                row = portrait_row(photo, speech, folder, options.crop, options.pictures, options.width)
            except RuntimeError as error:
                print(str(error).splitlines()[-1], file=sys.stderr)
                continue
            rows.append(row)
            print(f"{photo}: rendered", file=sys.stderr)
    if not rows:
        return 1
    sheet = _tiled(rows, options.rows_beside)
    cv2.imwrite(str(options.output), cv2.cvtColor(sheet, cv2.COLOR_RGB2BGR))
    return 0


def _tiled(rows: list[Image], beside: int) -> Image:
    """Rows of pictures, `beside` portraits next to each other."""
    blank = [np.zeros_like(rows[0])] * (-len(rows) % beside)
    filled = [*rows, *blank]
    lines = [np.hstack(filled[start : start + beside]) for start in range(0, len(filled), beside)]
    return np.vstack(lines).astype(np.uint8)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m avatar_cli.evaluation.contact_sheet",
        description="Renders portraits with the same speech and puts frames of all of them into one picture.",
    )
    parser.add_argument("photos", type=Path, nargs="+", metavar="PHOTO")
    parser.add_argument("-o", "--output", type=Path, required=True, help="PNG to write")
    parser.add_argument(
        "--speech", type=Path, default=asset_path("demo/speech.wav"), help="default: the demo"
    )
    parser.add_argument("--seconds", type=float, default=3.0, help="of the speech (default 3)")
    parser.add_argument("--pictures", type=int, default=5, help="of each portrait (default 5)")
    parser.add_argument("--crop", choices=["frame", *CROPS], default="face")
    parser.add_argument("--width", type=int, default=160, help="pixels of one picture (default 160)")
    parser.add_argument("--rows-beside", type=int, default=2, help="portraits in a line (default 2)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the videos")
    return parser


if __name__ == "__main__":
    sys.exit(main())
