"""Which families there are. Importing this imports none of them."""

import importlib

from avatar_cli.protocol.errors import UsageError
from avatar_cli.protocol.events import EventSink
from avatar_cli.protocol.job import Generation
from avatar_cli.stages.family import Family

LOADERS = {"portrait": "avatar_cli.families.portrait.family"}


def load_family(generation: Generation, ranks: int, emit: EventSink) -> Family:
    """Load the family that `generation.model` names, with its weights. Raises AvatarError."""
    if generation.model not in LOADERS:
        raise UsageError(f"there is no model {generation.model}; choose one of: {', '.join(LOADERS)}")
    return importlib.import_module(LOADERS[generation.model]).load(generation, ranks, emit)
