"""Does memory grow with the size of the photo?"""

from pathlib import Path

from PIL import Image

from avatar_cli.evaluation.benchmark.context import FPS, MEDIA_VARIABLE, SIZE, Bench, demo_speech
from avatar_cli.evaluation.benchmark.figures import Bounds, Figure, Measurement
from avatar_cli.evaluation.command import Render, render_watching_memory

HUGE_PHOTO = "portraits/v_large_6144.jpg"
USUAL_MEGAPIXELS = 2.0
SPEECH_SECONDS = 4
MEBIBYTE = 2**20
_BOUNDS = Bounds("< 1.2 times", "")
_TITLES = {
    "JPEG": "peak memory, 38 megapixels of photo against 2: JPEG",
    "PNG": "... PNG",
}


def measure_photo(bench: Bench) -> Measurement:
    """The same photo in both sizes and both formats; the median of the peaks of all runs."""
    if bench.media is None:
        missing = f"needs {MEDIA_VARIABLE}"
        return Measurement(tuple(Figure(title, _BOUNDS, "", 2, (), missing) for title in _TITLES.values()))
    figures = []
    for kind, title in _TITLES.items():
        usual, huge = _photos(bench.media / HUGE_PHOTO, bench.folder, kind)
        peaks = [(_peak(bench, usual), _peak(bench, huge)) for _ in range(bench.runs)]
        small, large = (sorted(column)[len(peaks) // 2] for column in zip(*peaks, strict=True))
        bench.say(f"photo, {kind}: {large:.0f} MB against {small:.0f} MB")
        ratios = tuple(after / before for before, after in peaks)
        note = f"{large:.0f} MB against {small:.0f} MB, all processes together"
        figures.append(Figure(title, _BOUNDS, "", 2, ratios, note))
    return Measurement(tuple(figures))


def _photos(original: Path, folder: Path, kind: str) -> tuple[Path, Path]:
    """The photo at the usual size and as large as it is, both saved as `kind`."""
    usual, huge = (folder / f"photo-{name}.{kind.lower()}" for name in ("usual", "huge"))
    with Image.open(original) as image:
        picture = image.convert("RGB")
    scale = (USUAL_MEGAPIXELS * 1e6 / (picture.width * picture.height)) ** 0.5
    picture.resize((round(picture.width * scale), round(picture.height * scale))).save(usual, kind)
    picture.save(huge, kind)
    return usual, huge


def _peak(bench: Bench, photo: Path) -> float:
    """MB."""
    options = ("--size", SIZE, "--fps", str(FPS))
    job = Render(photo, demo_speech(bench, SPEECH_SECONDS), bench.folder / "photo.mp4", options)
    return max(render_watching_memory(job)[1]) / MEBIBYTE
