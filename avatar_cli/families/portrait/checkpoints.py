"""The family's networks as they lie on disk: a checkpoint's configuration holds the network's params."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from avatar_cli.protocol.errors import EnvironmentProblem
from avatar_cli.runtime.module import Module
from avatar_cli.runtime.residency import PlainResidency
from avatar_cli.runtime.weights import Checkpoint

Network = TypeVar("Network", bound=nn.Module)


def module_of(path: Path, network: Callable[[Any], Network], params: Callable[..., Any]) -> Module[Network]:
    """The module of a checkpoint whose configuration are the fields of `params`.

    Building it raises EnvironmentProblem where the checkpoint is that of another network.
    """

    def build(config: Mapping[str, Any]) -> Network:
        try:
            sizes = params(**{key: _frozen(value) for key, value in config.items()})
        except TypeError as error:
            raise EnvironmentProblem(
                f"{path} holds the weights of another network ({error}): install avatar again."
            ) from error
        return network(sizes)

    return Module(
        name=path.stem,
        checkpoint=Checkpoint(path),
        build=build,
        blocks=lambda network: list(getattr(network, "blocks", ())),
    )


def load_network(path: Path, network: Callable[[Any], Network], params: Callable[..., Any]) -> Network:
    """The network with its weights, on the CPU. Arguments and errors as those of `module_of`."""
    module = module_of(path, network, params)
    return PlainResidency(module, torch.device("cpu"), lambda event: None).network


def _frozen(value: Any) -> Any:
    """JSON has no tuples, and params are frozen dataclasses of them."""
    return tuple(value) if isinstance(value, list) else value
