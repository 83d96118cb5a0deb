"""Does the mouth stay closed while nothing is said?"""

from avatar_cli.evaluation.benchmark.context import FPS, MEDIA_VARIABLE, Bench
from avatar_cli.evaluation.benchmark.figures import Bounds, Detail, Figure, Measurement
from avatar_cli.evaluation.command import Render, render
from avatar_cli.evaluation.silence import restlessness, write_silence
from avatar_cli.evaluation.tracks import track_video

SECONDS = 10
# Closed mouths, frontal or nearly so.
PHOTOS = ("p43_woman_street_720p.png", "p02_grace_hopper_glasses_closed.jpg", "p30_flux_man_closed.png")
_TITLE = "mouth in digital silence, p95 of (opening - its median), % of the eyes' distance"
_BOUNDS = Bounds("< 1 %", "0.3 %")


def measure_silence(bench: Bench) -> Measurement:
    """The worst of some photos; once, since a render with the same seed gives the same frames."""
    if bench.media is None:
        return Measurement((Figure(_TITLE, _BOUNDS, " %", 2, (), f"needs {MEDIA_VARIABLE}"),))
    speech = bench.folder / "silence.wav"
    write_silence(speech, SECONDS)
    canonical, rows = [], []
    for name in PHOTOS:
        photo = bench.media / "portraits" / name
        output = bench.folder / f"silence-{photo.stem}.mp4"
        track = track_video(
            render(Render(photo, speech, output, ("--size", "720p", "--fps", str(FPS)))).output
        )
        canonical.append(100 * restlessness(track.opening))
        in_image = 100 * restlessness(track.image_opening)
        rows.append((photo.stem, f"{canonical[-1]:.2f} %", f"{in_image:.2f} %"))
        bench.say(f"silence, {photo.stem}: {canonical[-1]:.2f} %")
    note = f"{SECONDS} s at 720p, tracked, head pose removed; the worst of {len(PHOTOS)} photos"
    figure = Figure(_TITLE, _BOUNDS, " %", 2, (max(canonical),), note)
    detail = Detail("Silence, by photo", ("photo", "head pose removed", "in the image"), tuple(rows))
    return Measurement((figure,), (detail,))
