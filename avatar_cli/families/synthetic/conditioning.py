"""What the synthetic networks are told: the reference as tokens, words as numbers, the sound of a window."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from avatar_cli.families.synthetic.encoders import SAMPLES
from avatar_cli.families.synthetic.sizes import REFERENCE_FEATURES, REFERENCE_TOKENS, TextEncoderParams
from avatar_cli.protocol.job import Cue
from avatar_cli.runtime.residency import Residency, resident
from avatar_cli.runtime.span import Span
from avatar_cli.stages.values import Frame, PromptTrack, SpeechTrack

_TOKENS_A_ROW = 16
_CELLS = 4  # along each side of a token's piece of the picture
assert REFERENCE_FEATURES == 3 * _CELLS**2


def reference_tokens(picture: Frame) -> Tensor:
    """Tokens [1, 128, 48] of a picture: its colours in 8 x 16 pieces of 4 x 4 cells, -1..1."""
    rows = REFERENCE_TOKENS // _TOKENS_A_ROW
    colours = torch.from_numpy(picture).permute(2, 0, 1)[None].float() / 127.5 - 1
    cells = F.adaptive_avg_pool2d(colours, (_CELLS * rows, _CELLS * _TOKENS_A_ROW))
    return F.unfold(cells, _CELLS, stride=_CELLS).transpose(1, 2)


def prompt_track(
    cues: tuple[Cue, ...], encoder: Residency, params: TextEncoderParams, device: torch.device
) -> PromptTrack:
    """The prompts of a job with their times; the encoder comes in for as long as it takes."""
    if not cues or cues[0].at > 0:
        cues = (Cue(Fraction(0), ()), *cues)
    with _once(encoder):
        tokens = tuple(encoder.network(_numbers(cue, params).to(device)) for cue in cues)
    return PromptTrack(tuple(cue.at for cue in cues), tokens)


@contextmanager
def _once(residency: Residency) -> Iterator[None]:
    """A network that runs once a job leaves the device, and memory, for good."""
    with resident(residency):
        yield
    residency.close()


def _numbers(cue: Cue, params: TextEncoderParams) -> Tensor:
    """A cue's words, letter by letter, filled up with zeros: int64 [1, tokens]."""
    letters = ", ".join(prompted.word for prompted in cue.words).encode()[: params.tokens]
    numbers = [letter % params.vocabulary for letter in letters]
    return torch.tensor([numbers + [0] * (params.tokens - len(numbers))])


@dataclass
class HeardSamples:
    """Rolling state: the samples that a later window may still need; the first of them is number `first`."""

    samples: np.ndarray
    first: int = 0

    def to_tensors(self) -> dict[str, Tensor]:
        """The samples, and where they are."""
        return {"samples": torch.from_numpy(self.samples), "first": torch.tensor(self.first)}

    def load_tensors(self, tensors: dict[str, Tensor]) -> None:
        """Inverse of `to_tensors`, in place."""
        self.samples = tensors["samples"].numpy()
        self.first = int(tensors["first"])


class SoundConditioner:
    """The family's AudioConditioner: every window is encoded by itself, to tokens [1, T, K, width]."""

    def __init__(self, encoder: Residency, device: torch.device) -> None:
        self._encoder = encoder
        self._device = device
        self.residencies = (encoder,)

    def open(self) -> HeardSamples:
        """State at the beginning of the recording."""
        return HeardSamples(np.empty(0, np.float32))

    def encode(self, state: HeardSamples, speech: SpeechTrack, window: Span) -> Tensor:
        """Tokens of the frames of `window`; hears nothing beyond it."""
        stop = window.stop * SAMPLES
        known = state.first + len(state.samples)
        if stop > known:
            state.samples = np.concatenate([state.samples, speech.model_samples(known, stop)])
            speech.release_model(stop)
        start = max(window.start * SAMPLES, state.first)
        heard = np.zeros(len(window) * SAMPLES, np.float32)  # before the recording there is silence
        heard[len(heard) - (stop - start) :] = state.samples[start - state.first : stop - state.first]
        samples = torch.from_numpy(heard).view(1, len(window), SAMPLES).to(self._device)
        return self._encoder.network(samples)

    def release(self, state: HeardSamples, before: int) -> None:
        """Forget what no window from frame `before` on can reach."""
        first = max(before * SAMPLES, state.first)
        state.samples = state.samples[first - state.first :].copy()  # a view would keep the old array
        state.first = first
