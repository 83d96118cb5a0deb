"""The voice activity network of Silero VAD 6.2, 16 kHz: how likely is it that somebody speaks?

It hears 32 ms at a time and remembers through a recurrent layer. The structure follows the published graph
(https://github.com/snakers4/silero-vad, MIT), whose weights it takes as they are.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

WINDOW = 512  # samples of a step
CONTEXT = 64  # samples before them that the step hears too


@dataclass(frozen=True)
class VoiceDetectorParams:
    """Sizes: short-time Fourier transform in samples, then channels and strides of the convolutions."""

    transform: int = 256
    hop: int = 128
    channels: tuple[int, ...] = (128, 64, 64, 128)
    strides: tuple[int, ...] = (1, 2, 2, 1)


class VoiceDetector(nn.Module):
    """Windows of sound to probabilities of speech."""

    def __init__(self, params: VoiceDetectorParams = VoiceDetectorParams()) -> None:
        super().__init__()
        self.params = params
        bins = params.transform // 2 + 1
        self.stft = nn.Conv1d(1, 2 * bins, params.transform, params.hop, bias=False)
        inputs = (bins, *params.channels)
        sizes = zip(inputs, params.channels, params.strides, strict=False)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(before, after, kernel_size=3, stride=stride, padding=1)
            for before, after, stride in sizes
        )
        self.width = params.channels[-1]
        self.recurrent = nn.LSTM(self.width, self.width, batch_first=True)
        self.out = nn.Linear(self.width, 1)

    def forward(self, windows: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Windows that follow each other, each with the samples before it.

        Args:
            windows: [n, 576] samples in [-1, 1]: the last 64 of the window before, then 512.
            state: hidden and cell state [1, 1, 128] of the recurrent layer; zeros at the beginning.

        Returns:
            Probability [n] that there is speech at the end of each window, and the next state.
        """
        reflected = functional.pad(windows[:, None], (0, CONTEXT), mode="reflect")
        real, imaginary = self.stft(reflected).chunk(2, dim=1)
        x = torch.sqrt(real**2 + imaginary**2)
        for convolution in self.convolutions:
            x = functional.relu(convolution(x))
        sequence, state = self.recurrent(x.transpose(0, 2).transpose(1, 2), state)
        return torch.sigmoid(self.out(functional.relu(sequence[0])))[:, 0], state
