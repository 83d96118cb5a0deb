"""Which families there are. Importing this imports none of them."""

import importlib

from avatar_cli.protocol.errors import UsageError
from avatar_cli.protocol.events import EventSink
from avatar_cli.stages.family import Family

LOADERS = {"portrait": "avatar_cli.families.portrait.family"}


def load_family(name: str, ranks: int, emit: EventSink) -> Family:
    """Load the family `name` with its weights, sharded where there are several ranks. Raises AvatarError."""
    if name not in LOADERS:
        raise UsageError(f"there is no model {name}; choose one of: {', '.join(LOADERS)}")
    return importlib.import_module(LOADERS[name]).load(ranks, emit)
