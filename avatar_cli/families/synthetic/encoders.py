"""The two encoders: of the prompt, once a job, and of the sound, once a chunk."""

import torch
from torch import Tensor, nn

from avatar_cli.families.synthetic.attention import Attention, Mlp, rotary
from avatar_cli.families.synthetic.sizes import (
    LATENT_FPS,
    AudioEncoderParams,
    TextEncoderParams,
    TransformerSize,
)
from avatar_cli.protocol.timing import MODEL_RATE

SAMPLES = int(MODEL_RATE / LATENT_FPS)  # of one latent frame


class EncoderBlock(nn.Module):
    """Self-attention and MLP."""

    def __init__(self, size: TransformerSize) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(size.hidden)
        self.attention = Attention(size.hidden, size.heads)
        self.mlp_norm = nn.LayerNorm(size.hidden)
        self.mlp = Mlp(size.hidden, size.mlp)

    def forward(self, x: Tensor, rotary: Tensor) -> Tensor:
        """Tokens [B, T, hidden], `rotary` [T, 2, D/2]."""
        x = x + self.attention(self.attention_norm(x), rotary)
        return x + self.mlp(self.mlp_norm(x))


class TextEncoder(nn.Module):
    """Words to the tokens that the diffusion transformers attend to."""

    def __init__(self, params: TextEncoderParams) -> None:
        super().__init__()
        self.params = params
        size = params.transformer
        self.embed = nn.Embedding(params.vocabulary, size.hidden)
        self.blocks = nn.ModuleList(EncoderBlock(size) for _ in range(size.blocks))
        self.norm = nn.LayerNorm(size.hidden)

    def forward(self, words: Tensor) -> Tensor:
        """int64 [B, tokens] below the vocabulary's size, to [B, tokens, hidden]."""
        hidden = self.embed(words)
        turns = _in_line(words.shape[1], self.params.transformer, words.device)
        for block in self.blocks:
            hidden = block(hidden, turns)
        return self.norm(hidden)


class AudioEncoder(nn.Module):
    """Sound to some tokens for every latent frame."""

    def __init__(self, params: AudioEncoderParams) -> None:
        super().__init__()
        self.params = params
        size = params.transformer
        self.samples_in = nn.Linear(SAMPLES // params.tokens, size.hidden)
        self.blocks = nn.ModuleList(EncoderBlock(size) for _ in range(size.blocks))
        self.norm = nn.LayerNorm(size.hidden)

    def forward(self, samples: Tensor) -> Tensor:
        """Sound [B, T, 2560] in -1..1 at 16 kHz, to [B, T, tokens, hidden]."""
        pieces = samples.unflatten(2, (self.params.tokens, -1)).flatten(1, 2)
        hidden = self.samples_in(pieces.to(self.samples_in.weight.dtype))
        turns = _in_line(hidden.shape[1], self.params.transformer, samples.device)
        for block in self.blocks:
            hidden = block(hidden, turns)
        return self.norm(hidden).unflatten(1, (samples.shape[1], -1))


def _in_line(count: int, size: TransformerSize, device: torch.device) -> Tensor:
    return rotary(torch.arange(count, device=device)[:, None], size.hidden // size.heads)
