"""The text encoder: words of the prompt vocabulary to the tokens that the motion network attends to."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from avatar_cli.families.portrait.vocabulary import VOCABULARY

PROMPT_LENGTH = len(VOCABULARY)  # every prompt is padded to this many words
NO_WORD = 0  # id of the padding; a prompt of nothing else is "no prompt"


@dataclass(frozen=True)
class TextEncoderParams:
    """Size of the text encoder."""

    width: int = 64
    hidden: int = 128


def word_ids(words: Sequence[str]) -> Tensor:
    """Ids int64 [1, 3] of words of VOCABULARY, repeated words once, in the vocabulary's order."""
    ids = sorted({1 + VOCABULARY.index(word) for word in words})
    return torch.tensor([[*ids, *[NO_WORD] * (PROMPT_LENGTH - len(ids))]])


class TextEncoder(nn.Module):
    """Word ids int64 [B, P] (0 is no word) to prompt tokens [B, P, d].

    Every token knows all the words beside it, so that "lively smiling" may mean more than its words do.
    """

    def __init__(self, params: TextEncoderParams = TextEncoderParams()) -> None:
        super().__init__()
        self.params = params
        width = params.width
        self.words = nn.Embedding(1 + len(VOCABULARY), width)
        self.norm = nn.LayerNorm(width)
        self.expand = nn.Linear(2 * width, params.hidden)
        self.project = nn.Linear(params.hidden, width)
        self.out_norm = nn.LayerNorm(width)

    def forward(self, ids: Tensor) -> Tensor:
        """Prompt tokens float32 [B, P, d] of ids [B, P]."""
        words = self.words(ids)
        together = words.mean(dim=1, keepdim=True).expand_as(words)
        hidden = functional.gelu(self.expand(torch.cat([self.norm(words), self.norm(together)], dim=-1)))
        return self.out_norm(words + self.project(hidden))
