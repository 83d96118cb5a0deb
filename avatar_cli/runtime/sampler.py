"""Flow matching: noise becomes data along straight paths, integrated by Euler steps.

Convention: x_t = (1 - t) eps + t x, so t = 0 is noise, t = 1 is data, and the velocity is v = x - eps
(Lipman et al., Flow Matching for Generative Modeling, arXiv 2210.02747; Liu et al., Rectified Flow,
arXiv 2209.03003).
"""

from collections.abc import Callable

import torch
from torch import Tensor

from avatar_cli.runtime.chunks import Chunk
from avatar_cli.runtime.seeds import chunk_seed

Velocity = Callable[[Tensor, Tensor], Tensor]


def euler_sample(velocity: Velocity, noise: Tensor, schedule: Tensor, clean: Tensor, mask: Tensor) -> Tensor:
    """Integrate dx/dt = v(x, t) from noise to data; anchors stay clean in x_t at every step.

    Args:
        velocity: v(x, t) with x shaped like `noise` and t a scalar tensor in 0..1; returns a tensor like x.
            The time of the anchors is the model's affair, it knows the mask.
        noise: eps, standard normal, any shape; its dtype is that of the integration (float32).
        schedule: steps + 1 increasing times from 0 to 1, on the CPU; two times are a one-step model.
        clean: values of the anchors, shaped like `noise`; what stands outside the mask is not read.
        mask: bool, or numbers that are not 0, at anchors; shaped like `noise` or broadcastable to it.

    Returns:
        Data, shaped like `noise`, equal to `clean` at the anchors.
    """
    anchored = mask.bool()
    x = torch.where(anchored, clean, noise)
    for t, dt in zip(schedule[:-1], schedule.diff(), strict=True):
        x = torch.where(anchored, clean, x + dt * velocity(x, t))
    return x


def uniform_schedule(steps: int) -> Tensor:
    """Times 0, 1 / steps, ..., 1 as float32 [steps + 1]."""
    return torch.linspace(0.0, 1.0, steps + 1)


def chunk_noise(shape: tuple[int, ...], job_seed: int, chunk: Chunk, device: torch.device) -> Tensor:
    """Standard normal float32 noise of one chunk.

    Drawn on the CPU whatever the device, because generators of different devices give different numbers.
    """
    generator = torch.Generator().manual_seed(chunk_seed(job_seed, chunk.kind, chunk.index))
    return torch.randn(shape, generator=generator).to(device)
