"""Options that say how large synthetic networks are, shared by the commands that run or plan them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from avatar_cli.protocol.errors import UsageError

if TYPE_CHECKING:
    from avatar_cli.families.synthetic.size_file import Changes
    from avatar_cli.families.synthetic.sizes import SyntheticSize

DEFAULT_SIZE = "14b"
KEEPS = ("hold", "stream")

_PANEL = "Networks"

Size = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FILE.yaml",
        help=r"tiny, 14b, or a file in the form of configs/synthetic/14b.yaml. \[default: 14b]",
        rich_help_panel=_PANEL,
    ),
]
Params = Annotated[
    str | None,
    typer.Option(
        metavar="COUNT",
        help="Parameters of the base model, such as 14B or 350M; the width of its MLP follows.",
        rich_help_panel=_PANEL,
    ),
]
Blocks = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Blocks of the base model.", rich_help_panel=_PANEL)
]
Hidden = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Width of the base model.", rich_help_panel=_PANEL)
]
Heads = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Attention heads of the base model.", rich_help_panel=_PANEL),
]


def check_keep(name: str) -> None:
    """Raise UsageError for a way to keep networks that is none."""
    if name not in KEEPS:
        raise UsageError(f"--keep {name} is not a way to keep networks: choose {' or '.join(KEEPS)}.")


def find_size(name: str | None, changes: "Changes") -> "SyntheticSize":
    """The size of that name or file, with changes. Raises UsageError."""
    # Imported here, because `avatar --help` must not wait for yaml and torch.
    from avatar_cli.cli.presets import config_folder
    from avatar_cli.families.synthetic.size_file import changed, read_size

    name = name or DEFAULT_SIZE
    folder = config_folder() / "synthetic"
    known = sorted(path.stem for path in folder.glob("*.yaml"))
    path = folder / f"{name}.yaml" if name in known else Path(name)
    if name not in known and path.suffix != ".yaml":
        raise UsageError(
            f"--size {name} is not a size: choose {', '.join(known)}, or a file that ends in .yaml."
        )
    return changed(read_size(path), changes)
