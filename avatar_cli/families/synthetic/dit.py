"""The diffusion transformer of both stages: base latents from sound, and high-resolution from low ones.

Peebles and Xie, 2023, "Scalable Diffusion Models with Transformers", with one projection of the time for all
blocks, each adding its own table, as in Chen et al., 2023, "PixArt-alpha". Everything but the core of
self-attention works token by token, so that the tokens may be shared out over processes.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from avatar_cli.families.synthetic.attention import Attention, CrossAttention, Mlp, rotary, wave_lengths
from avatar_cli.families.synthetic.sizes import (
    LATENT_CHANNELS,
    PATCH,
    REFERENCE_FEATURES,
    DiTParams,
    TransformerSize,
)

_MODULATIONS = 6
_TIME_FEATURES = 256
_TIME_SCALE = 1000.0
_LISTENS_EVERY = 4  # of a network that listens, blocks 0, 4, 8, ... attend to sound


@dataclass(frozen=True)
class Guidance:
    """What the latents are made from: `text` [1, P, text_width], `reference` [1, R, 48], and `audio`
    [1, T, K, audio_width], None for a network that does not listen.
    """

    text: Tensor
    reference: Tensor
    audio: Tensor | None = None


class Block(nn.Module):
    """Self-attention, attention to text and reference, in some blocks to the sound of the own frame, MLP."""

    def __init__(self, size: TransformerSize, listens: bool) -> None:
        super().__init__()
        self.listens = listens
        self.table = nn.Parameter(torch.zeros(_MODULATIONS, size.hidden))
        self.norm = nn.LayerNorm(size.hidden, elementwise_affine=False, eps=1e-6)
        self.attention = Attention(size.hidden, size.heads)
        self.context_norm = nn.LayerNorm(size.hidden, eps=1e-6)
        self.context_attention = CrossAttention(size.hidden, size.heads)
        if listens:
            self.audio_norm = nn.LayerNorm(size.hidden, eps=1e-6)
            self.audio_attention = CrossAttention(size.hidden, size.heads)
        self.mlp = Mlp(size.hidden, size.mlp)

    def forward(
        self,
        x: Tensor,
        frames: Tensor,
        rotary: Tensor,
        hears: Tensor | None,
        modulation: Tensor,
        context: Tensor,
        audio: Tensor | None,
    ) -> Tensor:
        """[B, L, hidden].

        Args:
            x: [B, L, hidden] tokens.
            frames: int64 [L], the frame of each token.
            rotary: [L, 2, D/2] of each token's position.
            hears: bool [L, S], the audio tokens of each token's frame.
            modulation: [B, T, 6, hidden] of each frame's flow time.
            context: [B, P + R, hidden].
            audio: [B, S, hidden].
        """
        shift, scale, gate, shift_mlp, scale_mlp, gate_mlp = (modulation + self.table).unbind(dim=2)
        inner = self.norm(x) * (1 + scale[:, frames]) + shift[:, frames]
        x = x + gate[:, frames] * self.attention(inner, rotary)
        x = x + self.context_attention(self.context_norm(x), context)
        if self.listens:
            x = x + self.audio_attention(self.audio_norm(x), audio, hears)
        inner = self.norm(x) * (1 + scale_mlp[:, frames]) + shift_mlp[:, frames]
        return x + gate_mlp[:, frames] * self.mlp(inner)


class DiT(nn.Module):
    """Velocity of latents; see `forward`."""

    def __init__(self, params: DiTParams) -> None:
        super().__init__()
        self.params = params
        hidden = params.transformer.hidden
        self.patch_in = nn.Linear(params.inputs * LATENT_CHANNELS * PATCH**2, hidden)
        self.time_in = nn.Sequential(nn.Linear(_TIME_FEATURES, hidden), nn.SiLU(), nn.Linear(hidden, hidden))
        self.modulation = nn.Linear(hidden, _MODULATIONS * hidden)
        self.text_in = nn.Linear(params.text_width, hidden)
        self.reference_in = nn.Linear(REFERENCE_FEATURES, hidden)
        if params.audio_width:
            self.audio_in = nn.Linear(params.audio_width, hidden)
        self.blocks = nn.ModuleList(
            Block(params.transformer, bool(params.audio_width) and number % _LISTENS_EVERY == 0)
            for number in range(params.transformer.blocks)
        )
        self.out_norm = nn.LayerNorm(hidden, elementwise_affine=False, eps=1e-6)
        self.patch_out = nn.Linear(hidden, LATENT_CHANNELS * PATCH**2)

    def forward(self, x: Tensor, time: Tensor, positions: Tensor, guidance: Guidance) -> Tensor:
        """Velocity [1, T, 16, h, w], float32.

        Args:
            x: [1, T, 16 inputs, h, w] latents.
            time: [1, T] flow time of each frame, 0 noise and 1 data.
            positions: int64 [T] frame numbers; only their differences matter.
            guidance: audio has the same T frames.
        """
        dtype = self.patch_in.weight.dtype
        size = self.params.transformer
        _, count, _, height, width = x.shape
        cells = torch.cartesian_prod(
            positions,
            torch.arange(height // PATCH, device=x.device),
            torch.arange(width // PATCH, device=x.device),
        )
        tokens_a_frame = len(cells) // count
        frames = torch.arange(count, device=x.device).repeat_interleave(tokens_a_frame)
        condition = self.time_in(_time_features(time).to(dtype))
        context = torch.cat(
            [self.text_in(guidance.text.to(dtype)), self.reference_in(guidance.reference.to(dtype))], dim=1
        )
        audio, hears = None, None
        if guidance.audio is not None:
            audio = self.audio_in(guidance.audio.to(dtype)).flatten(1, 2)
            sounding = torch.arange(count, device=x.device).repeat_interleave(guidance.audio.shape[2])
            hears = frames[:, None] == sounding
        hidden = self.patch_in(_to_patches(x).to(dtype))
        modulation = self.modulation(F.silu(condition)).unflatten(-1, (_MODULATIONS, -1))
        turns = rotary(cells, size.hidden // size.heads)
        for block in self.blocks:
            hidden = block(hidden, frames, turns, hears, modulation, context, audio)
        return _from_patches(self.patch_out(self.out_norm(hidden)).float(), (count, height, width))


def _time_features(time: Tensor) -> Tensor:
    """Cosines and sines [1, T, 256]."""
    angles = _TIME_SCALE * time[..., None] * wave_lengths(_TIME_FEATURES // 2, time.device)
    return torch.cat([angles.cos(), angles.sin()], dim=-1)


def _to_patches(x: Tensor) -> Tensor:
    """[1, T, C, h, w] to [1, T h/2 w/2, 4 C]."""
    cells = x.unflatten(4, (-1, PATCH)).unflatten(3, (-1, PATCH))  # [1, T, C, h/2, 2, w/2, 2]
    return cells.permute(0, 1, 3, 5, 2, 4, 6).flatten(4).flatten(1, 3)


def _from_patches(tokens: Tensor, size: tuple[int, int, int]) -> Tensor:
    """Inverse of `_to_patches`; `size` is T, h, w."""
    count, height, width = size
    cells = tokens.unflatten(2, (-1, PATCH, PATCH)).unflatten(1, (count, height // PATCH, width // PATCH))
    return cells.permute(0, 1, 4, 2, 5, 3, 6).flatten(5).flatten(3, 4)
