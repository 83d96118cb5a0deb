"""Can the borders between chunks be seen in the video?"""

from avatar_cli.evaluation.benchmark.context import FPS, SIZE, Bench, demo_reference, demo_speech
from avatar_cli.evaluation.benchmark.figures import Bounds, Detail, Figure, Measurement
from avatar_cli.evaluation.command import Render, render
from avatar_cli.evaluation.seams import chunk_borders, seam_figures
from avatar_cli.evaluation.tracks import track_video

SPEECH_SECONDS = 60


def measure_seams(bench: Bench) -> Measurement:
    """Tracks a minute of video; once, since a render with the same seed gives the same frames."""
    speech = demo_speech(bench, SPEECH_SECONDS)
    options = ("--size", SIZE, "--fps", str(FPS))
    done = render(Render(demo_reference(), speech, bench.folder / "seams.mp4", options))
    bench.say("seams: tracking a minute of video")
    track = track_video(done.output)
    plan = done.report["job"]["generation"]
    borders = chunk_borders(len(track.seen), plan["chunk_frames"], plan["interpolated_frames"])
    rows, above = [], []
    for name, curves in (("mouth", track.mouth), ("head pose", track.pose)):
        figures = seam_figures(curves, borders)
        above += [figures.position_above]
        rows.append(
            (
                name,
                f"{figures.position:.2f}",
                f"{100 * figures.position_above:.0f} %",
                f"{figures.velocity:.2f}",
                f"{100 * figures.velocity_above:.0f} %",
            )
        )
    figure = Figure(
        "jumps at chunk borders above the 95th percentile of those inside",
        Bounds("", ""),
        " %",
        0,
        (100 * max(above),),
        f"5 % is no seam; {len(borders)} borders, the worse of mouth and head pose",
    )
    header = ("curves", "step, median", "above p95", "velocity, median", "above p95")
    note = "In units of the 95th percentile of the same inside chunks, tracked in the rendered video."
    return Measurement((figure,), (Detail("At the borders of chunks", header, tuple(rows), note),))
