"""The networks as the models of the three stages behind the context."""

import torch
from torch import Tensor
from torch.nn import functional as F

from avatar_cli.families.synthetic.dit import Guidance
from avatar_cli.families.synthetic.sizes import (
    LATENT_CHANNELS,
    LATENT_FPS,
    UPSCALE,
    Geometry,
)
from avatar_cli.runtime.residency import Residency
from avatar_cli.runtime.sampler import uniform_schedule
from avatar_cli.runtime.stage import Piece
from avatar_cli.stages.audio_to_video import Anchored
from avatar_cli.stages.causal_decode import Memory
from avatar_cli.stages.values import Conditioning, Context, Frame

_ONE_STEP_FROM = 0.5  # flow time at which super-resolution takes low-resolution latents for noisy ones


class BaseModel:
    """The family's VelocityModel. Latents are [T, 16, h, w]; clean frames have the flow time of data."""

    def __init__(self, dit: Residency, geometry: Geometry, device: torch.device) -> None:
        self._dit = dit
        self._schedule = uniform_schedule(geometry.steps)
        self._noise_scale = torch.ones((), device=device)
        self.latent_shape = (LATENT_CHANNELS, *geometry.low)
        self.residencies = (dit,)

    def noise_scale(self) -> Tensor:
        """Full noise everywhere."""
        return self._noise_scale

    def schedule(self) -> Tensor:
        """Uniform steps."""
        return self._schedule

    def velocity(self, x: Tensor, time: Tensor, frames: Anchored, context: Context[Tensor]) -> Tensor:
        """One call of the transformer."""
        first, conditioning = context.chunk.generated.start, context.conditioning
        heard = (frames.positions + first - context.window.start).to(x.device)
        guidance = Guidance(
            text=conditioning.prompt.at(first / LATENT_FPS),
            reference=conditioning.tokens,
            audio=context.audio[:, heard],
        )
        times = torch.where(frames.mask.flatten(1), 1.0, float(time))
        return self._dit.network(x, times, frames.positions.to(x.device), guidance)

    def finish(self, latents: Tensor, frames: Anchored, context: Context[Tensor]) -> tuple[Tensor, Tensor]:
        """They are what they are."""
        return latents, latents


class OneStepUpscaler:
    """The family's OneStepModel: latents [n, 16, h, w] to [n, 16, 2 h, 2 w]."""

    def __init__(self, dit: Residency) -> None:
        self._dit = dit
        self.residencies = (dit,)

    def refine(self, piece: Piece[Tensor], conditioning: Conditioning) -> Tensor:
        """One Euler step from the enlarged latents."""
        large = F.interpolate(piece.value, scale_factor=UPSCALE, mode="nearest")[None]
        count = large.shape[1]
        times = torch.full((1, count), _ONE_STEP_FROM, device=large.device)
        positions = torch.arange(count, device=large.device)
        text = conditioning.prompt.at(piece.span.start / LATENT_FPS)
        seen = torch.cat([large, large], dim=2)
        velocity = self._dit.network(seen, times, positions, Guidance(text, conditioning.tokens))
        return (large + (1 - _ONE_STEP_FROM) * velocity)[0]


class LatentDecoder:
    """The family's CausalDecoder, on latents [n, 16, h, w]."""

    def __init__(self, vae: Residency, geometry: Geometry, like: Tensor) -> None:
        """`like` has the dtype and the device of the network's memory."""
        self._vae = vae
        self._geometry = geometry
        self._like = like
        self.residencies = (vae,)

    def open(self) -> Memory:
        """Nothing was seen."""
        return self._vae.network.empty_memory(*self._geometry.high, like=self._like)

    def latents(self, piece: Tensor) -> tuple[Tensor, ...]:
        """One by one."""
        return piece.split(1)

    def decode(self, latent: Tensor, memory: Memory) -> tuple[list[Frame], Memory]:
        """Four frames."""
        pixels, memory = self._vae.network(latent.transpose(0, 1)[None], memory)
        values = ((pixels[0] + 1) * 127.5).round().to(torch.uint8)
        return list(values.permute(1, 2, 3, 0).cpu().numpy()), memory
