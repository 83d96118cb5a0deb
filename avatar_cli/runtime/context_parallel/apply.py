"""Turns a module into one whose network shares its tokens among ranks, by hooks around submodules."""

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from torch import Tensor, nn

from avatar_cli.protocol.errors import UsageError
from avatar_cli.runtime.context_parallel.plan import Gather, SequencePlan, Split
from avatar_cli.runtime.context_parallel.ulysses import (
    exchange_heads_for_tokens,
    exchange_tokens_for_heads,
    gather_tokens,
)
from avatar_cli.runtime.mesh import SequenceGroup
from avatar_cli.runtime.module import Module

Network = TypeVar("Network", bound=nn.Module)


def context_parallel(
    module: Module[Network], plan: Callable[[Network], SequencePlan], group: SequenceGroup
) -> Module[Network]:
    """A module whose networks compute the same, each rank of `group` on its part of the tokens.

    Every rank makes the same calls with the same arguments and gets the whole output. A residency may shard
    or stream the network as any other: parameters and their names are untouched. Calls raise UsageError, on
    all ranks alike and before anything is sent, where tokens or heads do not divide among the ranks.
    """
    if group.size == 1:
        return module

    def build(config: Mapping[str, Any]) -> Network:
        network = module.build(config)
        _share_tokens(network, plan(network), _Sharing(module.name, group))
        return network

    return dataclasses.replace(module, build=build)


@dataclasses.dataclass(frozen=True)
class _Sharing:
    """Who shares, and how the network is called in errors."""

    network: str
    group: SequenceGroup

    def check(self, count: int, of_what: str) -> None:
        if count % self.group.size:
            raise UsageError(
                f"The {count} {of_what} of {self.network} do not divide among {self.group.size} processes: "
                "choose another --nproc, or another --size."
            )


def _share_tokens(network: nn.Module, plan: SequencePlan, sharing: _Sharing) -> None:
    names = {module: name or "the network" for name, module in network.named_modules()}
    for split in plan.splits:
        hook = _split_hook(split, f"tokens in {split.argument} of {names[split.module]}", sharing)
        split.module.register_forward_pre_hook(hook, with_kwargs=True)
    for core in plan.cores:
        core.register_forward_pre_hook(_before_core(sharing))
        core.register_forward_hook(_after_core(sharing))
    for gather in plan.gathers:
        gather.module.register_forward_hook(_gather_hook(gather, sharing))


def _split_hook(split: Split, tokens: str, sharing: _Sharing) -> Callable[..., Any]:
    place = list(inspect.signature(split.module.forward).parameters).index(split.argument)

    def own_part(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, tuple):
            return tuple(own_part(item) for item in value)
        count = value.shape[split.dimension]
        sharing.check(count, tokens)
        own = count // sharing.group.size
        return value.narrow(split.dimension, sharing.group.rank * own, own)

    def hook(
        module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if split.argument in kwargs:
            return args, {**kwargs, split.argument: own_part(kwargs[split.argument])}
        return (
            *args[:place],
            *(own_part(value) for value in args[place : place + 1]),
            *args[place + 1 :],
        ), kwargs

    return hook


def _before_core(sharing: _Sharing) -> Callable[..., Any]:
    def hook(core: nn.Module, args: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        query, key, value = args
        for tensor in args:
            sharing.check(tensor.shape[1], "attention heads")
        return tuple(exchange_tokens_for_heads((query, key, value), sharing.group))

    return hook


def _after_core(sharing: _Sharing) -> Callable[..., Any]:
    def hook(core: nn.Module, args: tuple[Tensor, ...], attended: Tensor) -> Tensor:
        return exchange_heads_for_tokens(attended, sharing.group)

    return hook


def _gather_hook(gather: Gather, sharing: _Sharing) -> Callable[..., Any]:
    def hook(module: nn.Module, args: tuple[Any, ...], output: Tensor) -> Tensor:
        return gather_tokens(output, gather.dimension, sharing.group)

    return hook
