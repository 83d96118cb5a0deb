"""`avatar models`: what can be rendered with, and what large models will need."""

import json as json_format
from pathlib import Path
from typing import Annotated, Any

import typer

from avatar_cli.cli.synthetic import Blocks, Heads, Hidden, Params, Size, check_keep, find_size
from avatar_cli.media.input_path import unreadable
from avatar_cli.protocol.errors import InputError

EPILOG = "\n".join(
    (
        "[bold]Examples[/bold]\n",
        "  avatar models plan",
        "  avatar models plan --params 14B --blocks 40 --hidden 5120 --memory 141 --measured bench.json",
        "\nNothing is measured here: times follow from the assumed rates.",
    )
)

_ASSUMED = "Assumed"
_OURS = False  # typer must not look at inputs: to it, one that cannot be read is a wrong command line
_GIB = 1 << 30

app = typer.Typer(invoke_without_command=True)


@app.callback()
def models(context: typer.Context) -> None:
    """List the models that --model takes, with what they are."""
    if context.invoked_subcommand is None:
        list_models()


@app.command("list")
def list_models() -> None:
    """List them, as `avatar models` does."""
    from rich.console import Console
    from rich.table import Table

    from avatar_cli.cli.presets import load_preset, preset_names

    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("model", "family", "size", "fps", "prompt words", "what it is"):
        table.add_column(heading, overflow="fold")
    for name in preset_names():
        preset = load_preset(name)
        picture = preset.defaults["picture"]
        vocabulary = preset.vocabulary
        words = f"{', '.join(vocabulary.words)}; before each: {', '.join(vocabulary.intensities)}"
        row = (preset.name, preset.family, picture["size"], str(picture["fps"]), words, preset.description)
        table.add_row(*row)
    Console(highlight=False).print(table)


@app.command(epilog=EPILOG)
def plan(
    size: Size = None,
    params: Params = None,
    blocks: Blocks = None,
    hidden: Hidden = None,
    heads: Heads = None,
    memory: Annotated[
        float, typer.Option(metavar="GIB", min=1, help="Memory of each GPU.", rich_help_panel=_ASSUMED)
    ] = 80.0,
    host_link: Annotated[
        float,
        typer.Option(
            metavar="GB/S",
            min=0.1,
            help="Rate of copies from pinned memory to each GPU.",
            rich_help_panel=_ASSUMED,
        ),
    ] = 50.0,
    gather: Annotated[
        float,
        typer.Option(
            metavar="GB/S", min=0.1, help="Rate of all-gathers into each GPU.", rich_help_panel=_ASSUMED
        ),
    ] = 300.0,
    tflops: Annotated[
        float,
        typer.Option(
            metavar="TFLOP/S",
            min=0.1,
            help="What each GPU reaches in these networks.",
            rich_help_panel=_ASSUMED,
        ),
    ] = 400.0,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="hold|stream",
            help="What is kept of every network while it runs. Without it: what the memory allows.",
            rich_help_panel=_ASSUMED,
        ),
    ] = None,
    measured: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="What `avatar bench runtime --json` wrote on a GPU, to stand beside; may be repeated.",
            readable=_OURS,
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="The plans as JSON on stdout, and nothing else there.")
    ] = False,
) -> None:
    """Compute what a model needs on 1, 2, 4 and 8 GPUs: weights, activations, peak, switch times."""
    if keep is not None:
        check_keep(keep)
    results = [_read_results(path) for path in measured or ()]
    # Imported here, because `avatar --help` must not wait for torch.
    from avatar_cli.evaluation.runtime_bench.node_plan import Assumed, find_needs, plan_nodes
    from avatar_cli.evaluation.runtime_bench.plan_words import as_json, lines
    from avatar_cli.families.synthetic.size_file import Changes, read_count
    from avatar_cli.runtime.memory_budget import Keep

    count = None if params is None else read_count(params)
    wanted = find_size(size, Changes(count, blocks, hidden, heads))
    assumed = Assumed(round(memory * _GIB), host_link * 1e9, gather * 1e9, tflops * 1e12)
    plans = plan_nodes(find_needs(wanted), assumed, None if keep is None else Keep(keep))
    if json:
        print(json_format.dumps(as_json(plans, assumed, results), indent=2))
    else:
        print("\n".join(lines(wanted.name, plans, assumed, results)))


def _read_results(path: Path) -> dict[str, Any]:
    try:
        results = json_format.loads(path.read_text(encoding="utf-8"))
        results["setting"]["ranks"], results["setting"]["on_gpu"], results["placed"], results["peaks"]
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} is no result of a bench: give what `avatar bench runtime --json` wrote."
        ) from error
    return results
