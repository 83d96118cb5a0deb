"""Golden frames: what the demo's photo and speech become in the chunks N0, I0 and N1.

`python tests/golden/frames.py` makes frames.json and frames.png anew. Do that when frames are meant to
change, look at the picture, and commit both.

On the type of processor that made them, every frame must have its golden hash. Other processors sum in
another order, which changes last bits and with them hashes; there, frames are compared with the
stored pictures.
"""

import json
import platform
import sys
import tempfile
import threading
import wave
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
import torch

from avatar_cli.assets import asset_path
from avatar_cli.cli.configuration import configure
from avatar_cli.cli.inputs import build_job
from avatar_cli.cli.request import Files, Request
from avatar_cli.families.portrait.family import FACTS
from avatar_cli.media.decoding import read_frames
from avatar_cli.worker import session

HERE = Path(__file__).parent
HASHES, PICTURES = HERE / "frames.json", HERE / "frames.png"
SETTINGS = ("picture.size=320x180", "compute.threads=1", "encoding.crf=12")
SHOWN = (0, 26, 53, 57, 58, 81, 105)  # of N0, I0 and N1, the borders among them
PICTURE = (96, 54)
# Largest mean difference of a picture in levels of 255. Measured: 0.15 between torch's plainest and widest
# instructions, 1.4 to 3.2 for another seed.
TOLERANCE = 0.5


@dataclass(frozen=True)
class Made:
    """What this machine makes of the demo."""

    hashes: list[str]
    pictures: list[np.ndarray]  # uint8 [54, 96, 3], RGB


def processor() -> str:
    """The type of processor, and which instructions torch uses on it."""
    facts = {}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        facts.setdefault(name.strip(), value.strip())
    parts = [facts.get(name, "?") for name in ("vendor_id", "cpu family", "model")]
    return f"{platform.machine()} {' '.join(parts)}, torch with {torch.backends.cpu.get_cpu_capability()}"


def chunk_frames() -> int:
    """Frames of N0, I0 and N1 together."""
    lengths = configure(Request({}))
    return 2 * lengths["chunks.frames"] + lengths["chunks.interpolated"]


def make(folder: Path) -> Made:
    """Renders as much of the demo as N0, I0 and N1 have frames."""
    speech, output, hashes = folder / "speech.wav", folder / "golden.mp4", folder / "hashes"
    _cut(asset_path("demo/speech.wav"), speech, chunk_frames() / FACTS.fps)
    files = Files(asset_path("demo/reference.png"), speech, output, frame_hashes=hashes)
    job = build_job(files, configure(Request({}, SETTINGS)))
    before = torch.get_num_threads()
    torch.set_num_threads(job.compute.threads)
    try:
        session.run(job, lambda event: None, threading.Event())
    finally:
        torch.set_num_threads(before)
    frames = [frame for index, frame in enumerate(read_frames(output)) if index in SHOWN]
    pictures = [cv2.resize(frame, PICTURE, interpolation=cv2.INTER_AREA) for frame in frames]
    return Made(hashes.read_text().splitlines(), pictures)


def _cut(source: Path, target: Path, seconds: Fraction) -> None:
    with wave.open(str(source)) as whole, wave.open(str(target), "wb") as part:
        part.setparams(whole.getparams())
        part.writeframes(whole.readframes(int(seconds * whole.getframerate())))


def load() -> tuple[str, Made]:
    """The golden ones, and the processor that made them."""
    golden = json.loads(HASHES.read_text())
    strip = cv2.cvtColor(cv2.imread(str(PICTURES)), cv2.COLOR_BGR2RGB)
    return golden["processor"], Made(golden["hashes"], np.split(strip, len(SHOWN)))


def differences(one: Made, other: Made) -> list[float]:
    """Mean absolute difference of each picture, in levels of 255."""
    pairs = zip(one.pictures, other.pictures, strict=True)
    return [float(np.abs(a.astype(float) - b.astype(float)).mean()) for a, b in pairs]


def main() -> None:
    """Makes both files anew and tells what has changed."""
    with tempfile.TemporaryDirectory() as folder:
        made = make(Path(folder))
    if HASHES.exists():
        _, golden = load()
        changed = sum(a != b for a, b in zip(made.hashes, golden.hashes, strict=True))
        print(f"{changed} of {len(made.hashes)} hashes changed", file=sys.stderr)
        words = ", ".join(f"{value:.2f}" for value in differences(made, golden))
        print(f"pictures differ by {words} levels in the mean", file=sys.stderr)
    HASHES.write_text(json.dumps({"processor": processor(), "hashes": made.hashes}, indent=1) + "\n")
    cv2.imwrite(str(PICTURES), cv2.cvtColor(np.concatenate(made.pictures), cv2.COLOR_RGB2BGR))


if __name__ == "__main__":
    main()
