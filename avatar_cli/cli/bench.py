"""`avatar bench`: what the runtime costs on this machine."""

import json as json_format
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from avatar_cli.cli.messages import say
from avatar_cli.cli.synthetic import KEEPS, Blocks, Heads, Hidden, Params, Size, check_keep, find_size
from avatar_cli.protocol.errors import EnvironmentProblem, UsageError
from avatar_cli.protocol.outer import find_outer

if TYPE_CHECKING:
    from avatar_cli.evaluation.runtime_bench.bench import Request
    from avatar_cli.evaluation.runtime_bench.results import Results

EPILOG = "\n".join(
    (
        "[bold]Examples[/bold]\n",
        "  avatar bench runtime --tiny",
        "  avatar bench runtime --size 14b --json bench.json --profile trace.json",
        "  avatar bench runtime --params 14B --blocks 40 --hidden 5120 --keep stream",
        "\nNetworks have random weights: no file is needed, and times do not depend on the values.",
    )
)

_STANDARD_OUTPUT = "-"
_TINY = "tiny"

app = typer.Typer(invoke_without_command=True)


@app.callback()
def bench(context: typer.Context) -> None:
    """Measure this machine: see `avatar bench runtime`."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command(epilog=EPILOG)
def runtime(
    tiny: Annotated[
        bool, typer.Option("--tiny", help="The smallest size and short loops: under a minute on two cores.")
    ] = False,
    size: Size = None,
    params: Params = None,
    blocks: Blocks = None,
    hidden: Hidden = None,
    heads: Heads = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="hold|stream",
            help="What is compared with all networks resident: blocks kept from enter to leave, or for "
            "their own forward only; may be repeated. Without it: both.",
        ),
    ] = None,
    chunks: Annotated[int, typer.Option(metavar="N", min=1, help="Length of the longest loop.")] = 100,
    nproc: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Processes that share the networks. Without it: one, or those of torchrun.",
        ),
    ] = None,
    threads: Annotated[
        int, typer.Option(metavar="N", min=1, help="Threads of each process for tensors.")
    ] = 1,
    weights: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Read the weights from sharded safetensors files here, and write them where it is empty. "
            "Without it they are made in place.",
        ),
    ] = None,
    profile: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write a Chrome trace of three chunks, with stages, blocks and copies by name.",
        ),
    ] = None,
    json: Annotated[
        str | None,
        typer.Option(
            "--json",
            metavar="FILE",
            help="Write the figures as JSON, one object; `--json -` prints it on stdout, and nothing else "
            "there.",
        ),
    ] = None,
) -> None:
    """Measure model switches, copies, memory and overhead in loops over chunks, all stages of a render."""
    if tiny and (size is not None or params is not None):
        raise UsageError("--tiny is a size of its own: leave out --size and --params.")
    keeps = tuple(dict.fromkeys(keep or KEEPS))
    for name in keeps:
        check_keep(name)
    # Imported here, because `avatar --help` must not wait for torch.
    from avatar_cli.evaluation.runtime_bench.bench import Request
    from avatar_cli.evaluation.runtime_bench.ranks import run_ranks
    from avatar_cli.families.synthetic.size_file import Changes, read_count
    from avatar_cli.runtime.memory_budget import Keep

    count = None if params is None else read_count(params)
    outer = find_outer(os.environ)
    request = Request(
        size=find_size(_TINY if tiny else size, Changes(count, blocks, hidden, heads)),
        keeps=tuple(Keep(name) for name in keeps),
        chunks=chunks,
        ranks=outer.ranks if outer else nproc or 1,
        weights=weights,
        profile=profile,
    )
    _check_writable(request, json)
    run_ranks(request, threads, outer, say, partial(_show, json=json, profile=profile))


def _show(results: "Results", json: str | None, profile: Path | None) -> None:
    from avatar_cli.evaluation.runtime_bench.words import lines

    text = json_format.dumps(results.as_json(), indent=2) + "\n"
    if json == _STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    if json is not None:
        Path(json).write_text(text, encoding="utf-8")
    print("\n".join(lines(results)))
    if profile is not None:
        say(f"the trace is in {profile}: open it at ui.perfetto.dev")


def _check_writable(request: "Request", json: str | None) -> None:
    """Before minutes of measuring."""
    files = [request.profile, Path(json) if json not in (None, _STANDARD_OUTPUT) else None]
    for file in files:
        if file is not None and not file.parent.is_dir():
            raise EnvironmentProblem(f"{file} cannot be written: the folder {file.parent} does not exist.")
