"""Motion around the borders of chunks as a picture. Needs matplotlib, which only development needs."""

import io
from collections.abc import Mapping

from avatar_cli.evaluation.quality.borders import ChunkLengths, border_parts, borders_of
from avatar_cli.evaluation.quality.curves import FaceCurves
from avatar_cli.evaluation.seams import jump_course
from avatar_cli.evaluation.tracks import TRACK_FPS

_REACH = 8  # frames either side: less than an I chunk, so that no other border is within
_COLOURS = ("tab:blue", "tab:orange")
_ORDERS = {1: "step", 2: "change of velocity"}


def draw_seams(schedules: Mapping[str, tuple[FaceCurves, ChunkLengths]]) -> str:
    """SVG: jumps of mouth, brows and pose over the frames around a border, a colour for each schedule.

    Args:
        schedules: By name, the curves of a video and the lengths of its chunks.
    """
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "avatar"  # the same curves give the same file
    from matplotlib import pyplot

    parts = list(border_parts(next(iter(schedules.values()))[0]))
    figure, axes = pyplot.subplots(
        len(_ORDERS), len(parts), figsize=(9, 5), sharex=True, sharey="row", layout="constrained"
    )
    for (order, title), row in zip(_ORDERS.items(), axes, strict=True):
        for part, axis in zip(parts, row, strict=True):
            for colour, (name, (curves, lengths)) in zip(_COLOURS, schedules.items(), strict=True):
                course = jump_course(border_parts(curves)[part], borders_of(curves, lengths), order, _REACH)
                seconds = course.offsets / float(TRACK_FPS)
                axis.plot(seconds, course.median, color=colour, label=f"{name}, median")
                axis.plot(seconds, course.high, ":", color=colour, label=f"{name}, 95th percentile")
            axis.axhline(1, color="tab:grey", linewidth=0.8)
            axis.axvline(0, color="tab:grey", linewidth=0.8)
            axis.set_title(f"{part}, {title}")
    for axis in axes[-1]:
        axis.set_xlabel("seconds from the border")
    for axis in axes[:, 0]:
        axis.set(ylim=(0, None), ylabel="of the p95 inside chunks")  # a row shares its scale
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize="small")
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    pyplot.close(figure)
    return text.getvalue()
