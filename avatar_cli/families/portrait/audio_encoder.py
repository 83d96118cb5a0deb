"""The audio encoder: log-mels at 100 Hz to tokens at 25 Hz that know which sound is spoken and what the
mouth does.

Every operation is local in time with a fixed reach, so a window with LEFT_CONTEXT_FRAMES before and
LOOK_AHEAD_FRAMES after the wanted frames gives the same tokens whatever else the recording holds.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from avatar_cli.families.portrait.audio_features import MELS, MELS_PER_FRAME
from avatar_cli.families.portrait.latents import MOUTH

# Silence, consonants from the lips backwards, vowels; ARPAbet names, diphthongs are two units.
UNITS = (
    *("SIL", "P", "B", "M", "F", "V", "TH", "DH", "T"),
    *("D", "N", "L", "S", "Z", "SH", "ZH", "CH", "JH"),
    *("R", "W", "Y", "K", "G", "NG", "HH"),
    *("IY", "IH", "EH", "AE", "AA", "AO", "AH", "ER", "UH", "UW", "OW"),
)
LEFT_CONTEXT_FRAMES = 40
LOOK_AHEAD_FRAMES = 8
# Typical deviation of each mouth distance while speaking, e: the unit in which the network predicts it.
MOUTH_SCALE = {
    "jaw_drop": 0.020,
    "gap": 0.028,
    "width": 0.024,
    "upper_lip_y": 0.010,
    "corner_y": 0.008,
    "lower_roll": 0.008,
    "upper_roll": 0.006,
    "shift_x": 0.008,
    "protrude": 0.008,
}


class AudioTokens(NamedTuple):
    """What the encoder says about n video frames.

    `tokens` [B, n, d]; `mean` [B, n, 9] the expected mouth distances in e, channels as in latents.MOUTH;
    `units` [B, n, 36] logits over UNITS.
    """

    tokens: Tensor
    mean: Tensor
    units: Tensor


@dataclass(frozen=True)
class AudioEncoderParams:
    """Size of the encoder.

    The first `centred` of the convolutions look as far ahead as back, the others only back. Their reach,
    with one frame for the two convolutions over mels, must stay within LOOK_AHEAD_FRAMES and
    LEFT_CONTEXT_FRAMES.
    """

    width: int = 128
    dilations: tuple[int, ...] = (1, 2, 4, 1, 2, 4, 8)
    centred: int = 3


class GatedConvolution(nn.Module):
    """Residual block: layer norm over channels, dilated convolution of three taps, gate, projection."""

    def __init__(self, width: int, dilation: int, centred: bool) -> None:
        super().__init__()
        self.left = dilation if centred else 2 * dilation
        self.right = dilation if centred else 0
        self.norm = nn.LayerNorm(width)
        self.taps = nn.Conv1d(width, 2 * width, kernel_size=3, dilation=dilation)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """[B, n, d] to [B, n, d]."""
        padded = functional.pad(self.norm(x).transpose(1, 2), (self.left, self.right))
        value, gate = self.taps(padded).transpose(1, 2).chunk(2, dim=-1)
        return x + self.out(value * torch.sigmoid(gate))


class AudioEncoder(nn.Module):
    """Log-mels [B, 4n, 48] to AudioTokens of n frames."""

    mouth_scale: Tensor

    def __init__(self, params: AudioEncoderParams = AudioEncoderParams()) -> None:
        super().__init__()
        self.params = params
        width = params.width
        self.spectral = nn.Conv1d(MELS, width, kernel_size=5, padding=2)
        self.downsample = nn.Conv1d(width, width, kernel_size=8, stride=MELS_PER_FRAME, padding=2)
        self.blocks = nn.ModuleList(
            GatedConvolution(width, dilation, centred=index < params.centred)
            for index, dilation in enumerate(params.dilations)
        )
        self.norm = nn.LayerNorm(width)
        self.mean_head = nn.Linear(width, len(MOUTH))
        self.unit_head = nn.Linear(width, len(UNITS))
        self.register_buffer("mouth_scale", torch.tensor([MOUTH_SCALE[name] for name in MOUTH]))

    def forward(self, mels: Tensor) -> AudioTokens:
        """Log-mels [B, 4n, 48] in [-2, 2]; frames within the contexts' reach of either end are not to be
        used.
        """
        x = functional.gelu(self.spectral(mels.transpose(1, 2)))
        x = self.downsample(x).transpose(1, 2)
        for block in self.blocks:
            x = block(x)
        tokens = self.norm(x)
        return AudioTokens(tokens, self.mean_head(tokens) * self.mouth_scale, self.unit_head(tokens))
