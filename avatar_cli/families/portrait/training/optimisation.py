"""What both training loops share: learning rate over time, averaged weights, a log line now and then."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

_WARM_UP_STEPS = 60
_CLIP_NORM = 1.0
_LOG_EVERY = 100


@dataclass(frozen=True)
class Schedule:
    """Steps and the highest learning rate; the rate rises at first and then falls as half a cosine."""

    steps: int
    rate: float
    weight_decay: float = 0.01

    def rate_at(self, step: int) -> float:
        """Learning rate of a step counted from 0."""
        warm = min(1.0, (step + 1) / _WARM_UP_STEPS)
        return self.rate * warm * (0.5 + 0.5 * math.cos(math.pi * step / self.steps)) + 1e-6


class Trainer:
    """AdamW on a schedule, with an exponential average of the weights beside it."""

    def __init__(self, network: nn.Module, schedule: Schedule, average: float = 0.998) -> None:
        self.network = network
        self._schedule = schedule
        self._average = average
        self._optimiser = torch.optim.AdamW(
            network.parameters(), schedule.rate, betas=(0.9, 0.98), weight_decay=schedule.weight_decay
        )
        self._averaged = {name: value.detach().clone() for name, value in network.state_dict().items()}
        self._step = 0
        self._log = ProgressLog()

    def steps(self) -> Iterator[int]:
        """The steps to take; call `descend` once in each."""
        while self._step < self._schedule.steps:
            yield self._step

    def descend(self, loss: Tensor, **parts: float) -> None:
        """One step down the gradient of `loss`."""
        for group in self._optimiser.param_groups:
            group["lr"] = self._schedule.rate_at(self._step)
        self._optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), _CLIP_NORM)
        self._optimiser.step()
        self._step += 1
        keep = min(self._average, self._step / (self._step + 50))
        with torch.no_grad():
            for name, value in self.network.state_dict().items():
                if value.is_floating_point():
                    self._averaged[name].lerp_(value, 1 - keep)
        self._log.add(self._step, loss=loss.item(), **parts)

    def averaged_state(self) -> dict[str, Tensor]:
        """The averaged weights."""
        return {name: value.clone() for name, value in self._averaged.items()}


@dataclass
class ProgressLog:
    """Prints running means of the losses."""

    means: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)

    def add(self, step: int, **values: float) -> None:
        """Take the losses of one step."""
        for name, value in values.items():
            self.means[name] = 0.98 * self.means.get(name, value) + 0.02 * value
        if step % _LOG_EVERY == 0:
            shown = " ".join(f"{name} {value:.4f}" for name, value in self.means.items())
            print(f"step {step}: {shown} ({time.monotonic() - self.started:.0f} s)", flush=True)
