"""The cost of longer speech as a picture. Needs matplotlib, which only development needs."""

from pathlib import Path

from avatar_cli.evaluation.benchmark.figures import Detail


def plot_cost(table: Detail, path: Path) -> None:
    """Draws the table of `benchmark.length` as an SVG: seconds on the left axis, memory on the right one."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "avatar"  # the same table gives the same file
    from matplotlib import pyplot

    speech, wall, cpu, memory = (_numbers(table, column) for column in range(4))
    figure, time_axis = pyplot.subplots(figsize=(7, 4), layout="constrained")
    memory_axis = time_axis.twinx()
    lines = [
        *time_axis.plot(speech, wall, "o-", color="tab:blue", label="seconds"),
        *time_axis.plot(speech, cpu, "s--", color="tab:cyan", label="processor seconds"),
        *time_axis.plot(speech, speech, ":", color="tab:grey", label="real time"),
        *memory_axis.plot(speech, memory, "^-", color="tab:red", label="peak memory, MB"),
    ]
    time_axis.set(xlabel="seconds of speech", ylabel="seconds", xlim=(0, None), ylim=(0, None))
    memory_axis.set(ylabel="MB", ylim=(0, 1.3 * max(memory)))
    time_axis.legend(handles=lines, loc="upper left")
    time_axis.grid(alpha=0.3)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def _numbers(table: Detail, column: int) -> list[float]:
    return [float(row[column].removesuffix(" s")) for row in table.rows]
