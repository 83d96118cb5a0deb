"""The motion DiT as the velocity model of the audio-to-video stage."""

import torch
from torch import Tensor

from avatar_cli.families.portrait.a2v_dit import noise_scale
from avatar_cli.families.portrait.audio_encoder import AudioTokens
from avatar_cli.families.portrait.audio_features import MELS_PER_FRAME
from avatar_cli.families.portrait.latents import CHANNELS, FPS
from avatar_cli.families.portrait.mouth import CONTEXT_FRAMES, relax_seams, shape_mouth
from avatar_cli.families.portrait.nodding import Nods
from avatar_cli.families.portrait.sound import PortraitAudio
from avatar_cli.runtime.chunks import Chunk
from avatar_cli.runtime.residency import Residency
from avatar_cli.runtime.sampler import uniform_schedule
from avatar_cli.runtime.span import Span
from avatar_cli.stages.audio_to_video import Anchored
from avatar_cli.stages.values import Context


class MotionModel:
    """Samples motion latents; lips, seams, silence and rows of nods are made sure of afterwards."""

    latent_shape = (len(CHANNELS),)

    def __init__(self, dit: Residency, steps: int, nods: Nods) -> None:
        self._dit = dit
        self._nods = nods
        self._schedule = uniform_schedule(steps)
        self._noise_scale = noise_scale()
        self.residencies = (dit,)

    def noise_scale(self) -> Tensor:
        """[21]: lips start near what the speech says, everything else from full noise."""
        return self._noise_scale

    def schedule(self) -> Tensor:
        """Uniform steps."""
        return self._schedule

    def velocity(self, x: Tensor, time: Tensor, frames: Anchored, context: Context[PortraitAudio]) -> Tensor:
        """One call of the transformer."""
        conditioning, first = context.conditioning, context.chunk.generated.start
        audio = AudioTokens(
            *(value[:, frames.positions + first - context.window.start] for value in context.audio.tokens)
        )
        prompt = conditioning.prompt.of_frames((frames.positions + first).tolist(), FPS)
        return self._dit.network(
            x,
            time[None],
            frames.clean,
            frames.mask.to(x.dtype),
            frames.positions[None],
            audio,
            conditioning.tokens,
            prompt[:, :, 0],
            torch.from_numpy(conditioning.reference.habits.vector())[None],
        )

    def finish(
        self, latents: Tensor, frames: Anchored, context: Context[PortraitAudio]
    ) -> tuple[Tensor, Tensor]:
        """Relax the seams, which later chunks must see, then shape the mouth and nod, which they must not."""
        chunk, network = context.chunk, self._dit.network
        motion = network.denormalise(latents)
        first = len(chunk.prefix or ())
        own = slice(first, first + len(chunk.generated))
        before = motion[:first] if _touches(chunk.prefix, chunk) else None
        after = motion[own.stop :] if chunk.suffix else None
        relaxed = relax_seams(motion[own], before, after)
        audio, mels = _around(context)
        shaped = shape_mouth(relaxed, audio, mels)
        anchors = latents.clone()
        anchors[own] = network.normalise(relaxed)
        motion[own] = self._nods.added(shaped, chunk.generated)
        return anchors, motion


def _touches(prefix: Span | None, chunk: Chunk) -> bool:
    """Whether the clean frames before a chunk are its direct neighbours: N chunks may begin after a gap."""
    return prefix is not None and prefix.stop == chunk.generated.start


def _around(context: Context[PortraitAudio]) -> tuple[AudioTokens, Tensor]:
    """Tokens and mels of a chunk's generated frames, with CONTEXT_FRAMES more on either side."""
    start = context.chunk.generated.start - CONTEXT_FRAMES - context.window.start
    stop = context.chunk.generated.stop + CONTEXT_FRAMES - context.window.start
    tokens = AudioTokens(*(value[:, start:stop] for value in context.audio.tokens))
    return tokens, context.audio.mels[:, MELS_PER_FRAME * start : MELS_PER_FRAME * stop]
