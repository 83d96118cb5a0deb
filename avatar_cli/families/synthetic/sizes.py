"""How large the synthetic networks are, and the video they make."""

from dataclasses import dataclass
from fractions import Fraction

import torch

LATENT_CHANNELS = 16
VIDEO_FRAMES = 4  # of one latent frame
PIXELS = 8  # along each side of one cell of a high-resolution latent
UPSCALE = 2  # of super-resolution, along each side
PATCH = 2  # cells of a latent along each side of one token
REFERENCE_TOKENS = 128
REFERENCE_FEATURES = 48
SIDE_STEP = PIXELS * UPSCALE * PATCH  # sides of the video are multiples of it
VIDEO_FPS = Fraction(25)
LATENT_FPS = VIDEO_FPS / VIDEO_FRAMES


@dataclass(frozen=True)
class TransformerSize:
    """What all transformers have: width of the hidden states, number of blocks, heads, width of the MLP."""

    hidden: int
    blocks: int
    heads: int
    mlp: int


@dataclass(frozen=True)
class DiTParams:
    """A diffusion transformer; `audio_width` is 0 where it does not listen."""

    transformer: TransformerSize
    inputs: int  # latents stacked along the channels: 1, or 2 where it is given low-resolution ones too
    text_width: int
    audio_width: int


@dataclass(frozen=True)
class TextEncoderParams:
    """A text encoder with `tokens` outputs."""

    transformer: TransformerSize
    vocabulary: int
    tokens: int


@dataclass(frozen=True)
class AudioEncoderParams:
    """An audio encoder with `tokens` outputs for every latent frame."""

    transformer: TransformerSize
    tokens: int


@dataclass(frozen=True)
class VaeParams:
    """A causal decoder: channels before and after each of its three steps up in space."""

    channels: tuple[int, int, int, int]
    residual_blocks: int  # at every resolution


@dataclass(frozen=True)
class NetworkSizes:
    """All five networks."""

    a2v: DiTParams
    sr: DiTParams
    text_encoder: TextEncoderParams
    audio_encoder: AudioEncoderParams
    vae: VaeParams


@dataclass(frozen=True)
class Geometry:
    """The video, and how it is made. Chunks are counted in latent frames, four frames of the video each."""

    width: int
    height: int
    steps: int  # of the audio-to-video sampler
    chunk_frames: int
    interpolated_frames: int
    border_frames: int

    @property
    def low(self) -> tuple[int, int]:
        """Height and width of a low-resolution latent."""
        return self.height // (PIXELS * UPSCALE), self.width // (PIXELS * UPSCALE)

    @property
    def high(self) -> tuple[int, int]:
        """Height and width of a high-resolution latent."""
        return self.height // PIXELS, self.width // PIXELS


@dataclass(frozen=True)
class SyntheticSize:
    """Everything that makes one synthetic model; equal sizes have equal weights."""

    name: str
    dtype: torch.dtype
    geometry: Geometry
    networks: NetworkSizes
