"""The module: one network and its checkpoint, as a family declares them. Residencies turn it into tensors."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from avatar_cli.runtime.weights import WeightSource

Network = TypeVar("Network", bound=nn.Module)
META = torch.device("meta")


@dataclass(frozen=True)
class Module(Generic[Network]):
    """Everything a residency needs to know of one network.

    `build` makes the network from the checkpoint's configuration, in ordinary code that knows nothing of what
    `on_meta` does around it. `blocks` gives the repeated layers in the order in which a forward runs them:
    they are sharded and streamed one by one.
    """

    name: str
    checkpoint: WeightSource
    build: Callable[[Mapping[str, Any]], Network]
    blocks: Callable[[Network], Sequence[nn.Module]]
    dtype: torch.dtype = torch.float32  # of the parameters; buffers keep theirs
    methods: tuple[str, ...] = ()  # methods beside forward that are called from outside, such as "prefill"
    float32: tuple[str, ...] = ()  # parameters with one of these in their names are float32 whatever `dtype`

    def on_meta(self) -> Network:
        """The network for inference, without memory for its parameters; buffers have their values."""
        with _EmptyOnMeta():
            network = self.build(self.checkpoint.config())
        for prefix, module in network.named_modules():
            for name, parameter in module.named_parameters(recurse=False):
                dtype = (
                    self._dtype_of(f"{prefix}.{name}") if parameter.is_floating_point() else parameter.dtype
                )
                empty = torch.empty(parameter.shape, device=META, dtype=dtype)
                module.register_parameter(name, nn.Parameter(empty, requires_grad=False))
        return network.eval()

    def _dtype_of(self, name: str) -> torch.dtype:
        return torch.float32 if any(part in name for part in self.float32) else self.dtype


class _EmptyOnMeta(TorchFunctionMode):
    """Sends `torch.empty`, from which the layers of torch.nn make their parameters, to the meta device.

    `torch.device("meta")` would send everything there, and buffers would lose their values. Some operations
    on meta tensors import a symbolic maths package, which takes a second: layers use only `normal_` of those.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Called in place of every function of torch."""
        options = dict(kwargs or {})
        if func is torch.empty and options.get("device") is None:
            options["device"] = META
        if func in (torch.Tensor.normal_, nn.init.normal_):
            tensor = args[0] if args else options["tensor"]
            if tensor.is_meta:
                return tensor
        return func(*args, **options)
