"""The text encoder: the words of a prompt, each with its intensity, to what the motion network is told."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from avatar_cli.families.portrait.vocabulary import WORDS
from avatar_cli.protocol.job import Prompted


@dataclass(frozen=True)
class TextEncoderParams:
    """Size of the text encoder."""

    width: int = 64
    hidden: int = 128


def intensities(prompted: Iterable[Prompted]) -> Tensor:
    """How strongly each word of WORDS is meant: float32 [1, V], 0 for those that are not there."""
    meant = torch.zeros(1, len(WORDS))
    for each in prompted:
        meant[0, WORDS.index(each.word)] = each.intensity
    return meant


class TextEncoder(nn.Module):
    """Intensities float32 [B, V] to one prompt token each, [B, 1, d].

    The direct path lets a word act in proportion to its intensity; the hidden one knows all the words
    together, so that "lively, sad" may mean more than its words do.
    """

    def __init__(self, params: TextEncoderParams = TextEncoderParams()) -> None:
        super().__init__()
        self.params = params
        self.direct = nn.Linear(len(WORDS), params.width)
        self.expand = nn.Linear(len(WORDS), params.hidden)
        self.project = nn.Linear(params.hidden, params.width)

    def forward(self, intensities: Tensor) -> Tensor:
        """Prompt tokens float32 [B, 1, d] of intensities [B, V]."""
        together = self.project(functional.gelu(self.expand(intensities)))
        return (self.direct(intensities) + together)[:, None]
