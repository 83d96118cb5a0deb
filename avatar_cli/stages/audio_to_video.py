"""Audio-to-video: flow matching over the latents of one chunk, held to the clean frames of its neighbours."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor

from avatar_cli.runtime.chunks import Chunk, ChunkKind
from avatar_cli.runtime.residency import Residency
from avatar_cli.runtime.sampler import chunk_noise, euler_sample
from avatar_cli.runtime.stage import BeforeLastCall, Piece, nothing_follows
from avatar_cli.stages.values import Conditioning, Context

Audio = TypeVar("Audio")


@dataclass(frozen=True)
class Anchored:
    """The frames of one model call: clean border and anchor frames, and those to be generated.

    `positions` [T] are true frame numbers, counted from the first generated frame, on the CPU. `clean`
    [1, T, C] holds the clean latents (zero elsewhere), `mask` [1, T, 1] is true where a frame is clean.
    """

    positions: Tensor
    clean: Tensor
    mask: Tensor


class VelocityModel(Protocol[Audio]):
    """A family's audio-to-video network, with what surrounds one call of it. Latents are normalised."""

    @property
    def residencies(self) -> tuple[Residency, ...]:
        """The networks behind it."""

    @property
    def latent_shape(self) -> tuple[int, ...]:
        """Shape of one frame's latent."""

    def noise_scale(self) -> Tensor:
        """Standard deviation of the initial noise, broadcast over `latent_shape`.

        Latents are sampled and kept on its device.
        """

    def velocity(self, x: Tensor, time: Tensor, frames: Anchored, context: Context[Audio]) -> Tensor:
        """Velocity [1, T, C] at flow time `time` (scalar tensor in 0..1) of the latents x [1, T, C]."""

    def schedule(self) -> Tensor:
        """Flow times from 0 to 1, one more than there are steps."""

    def finish(self, latents: Tensor, frames: Anchored, context: Context[Audio]) -> tuple[Tensor, Tensor]:
        """From the sampled latents [T, C] to normalised ones to hand on as anchors, and final ones."""


@dataclass
class BorderState:
    """Rolling state: the conditioning, and the clean frames that later chunks are held to.

    `earlier` and `later` are the last b latents of the last two N chunks, `head` the first b of the last one.
    """

    conditioning: Conditioning
    borders: dict[str, Tensor] = field(default_factory=dict)

    def to_tensors(self) -> dict[str, Tensor]:
        """The border latents, [b, C] each."""
        return dict(self.borders)

    def load_tensors(self, tensors: dict[str, Tensor]) -> None:
        """Inverse of `to_tensors`, in place."""
        self.borders = dict(tensors)


class AudioToVideoStage(Generic[Audio]):
    """Takes contexts in order of work (N0 N1 I0 N2 I1 ...) and gives each chunk's own latents."""

    name = "a2v"

    def __init__(self, model: VelocityModel[Audio], seed: int, border_frames: int) -> None:
        self._model = model
        self._seed = seed
        self._border_frames = border_frames
        self.residencies = model.residencies

    def open(self, reference: Conditioning) -> BorderState:
        """State before the first chunk."""
        return BorderState(reference)

    def push(
        self,
        state: BorderState,
        piece: Piece[Context[Audio]],
        before_last_call: BeforeLastCall = nothing_follows,
    ) -> Iterable[Piece[Tensor]]:
        """Latents [n, C] of one chunk; predictions for its anchors are thrown away."""
        context = piece.value
        chunk = context.chunk
        scale = self._model.noise_scale()
        frames = self._anchored(state, chunk, scale.device)
        shape = (1, len(frames.positions), *self._model.latent_shape)
        noise = chunk_noise(shape, self._seed, chunk, scale.device) * scale
        schedule = self._model.schedule()

        def velocity(x: Tensor, time: Tensor) -> Tensor:
            if time == schedule[-2]:
                before_last_call()
            return self._model.velocity(x, time, frames, context)

        sampled = euler_sample(
            velocity,
            noise,
            schedule,
            frames.clean,
            frames.mask,
        )
        anchors, latents = self._model.finish(sampled[0], frames, context)
        first = len(chunk.prefix or ()) + chunk.replaced
        own = slice(first, first + len(chunk.span))
        if chunk.kind is ChunkKind.N and self._border_frames:
            self._remember(state, anchors[own])
        yield Piece(chunk.span, latents[own])

    def finish(self, state: BorderState) -> Iterable[Piece[Tensor]]:
        """Nothing is held back."""
        return ()

    def _anchored(self, state: BorderState, chunk: Chunk, device: torch.device) -> Anchored:
        positions = torch.tensor(chunk.positions)
        clean = torch.zeros(1, len(positions), *self._model.latent_shape, device=device)
        ones = (1 for _ in self._model.latent_shape)
        mask = torch.zeros(1, len(positions), *ones, dtype=torch.bool, device=device)
        if chunk.prefix:
            # An I chunk comes after the N chunk on its far side, so its own prefix is one N chunk older.
            before = slice(None, len(chunk.prefix))
            clean[0, before] = state.borders["later" if chunk.kind is ChunkKind.N else "earlier"]
            mask[0, before] = True
        if chunk.suffix:
            behind = slice(-len(chunk.suffix), None)
            clean[0, behind] = state.borders["head"]
            mask[0, behind] = True
        return Anchored(positions, clean, mask)

    def _remember(self, state: BorderState, latents: Tensor) -> None:
        earlier = state.borders.get("later")
        # Clones: a slice would keep the whole chunk's latents alive.
        state.borders = {
            "later": latents[-self._border_frames :].clone(),
            "head": latents[: self._border_frames].clone(),
        }
        if earlier is not None:
            state.borders["earlier"] = earlier
