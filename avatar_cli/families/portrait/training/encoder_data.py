"""Windows of log-mels with mouth targets and unit labels, for the audio encoder."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from avatar_cli.families.portrait.audio_features import MELS_PER_FRAME
from avatar_cli.families.portrait.training.augmentation import disturb_mels
from avatar_cli.families.portrait.training.corpus import Example
from avatar_cli.families.portrait.training.phones import frame_labels
from avatar_cli.families.portrait.training.visemes import VisemeTable, mouth_target

_DISTURBED_SHARE = 0.7


@dataclass(frozen=True)
class EncoderData:
    """Recordings end to end: `mels` float16 [4N, 48], `mouth` float32 [N, 9] in e, `labels` int64 [N]."""

    mels: np.ndarray
    mouth: np.ndarray
    labels: np.ndarray

    @property
    def minutes(self) -> float:
        """Length at 25 frames a second."""
        return len(self.mouth) / 1500


@dataclass(frozen=True)
class EncoderBatch:
    """`mels` [B, 4n, 48], `mouth` [B, n, 9], `labels` [B, n]."""

    mels: Tensor
    mouth: Tensor
    labels: Tensor


def concatenate(parts: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> EncoderData:
    """Lay (mels, mouth, labels) of several recordings end to end."""
    mels, mouth, labels = zip(*parts, strict=True)
    return EncoderData(
        np.concatenate(mels).astype(np.float16),
        np.concatenate(mouth).astype(np.float32),
        np.concatenate(labels),
    )


def from_examples(examples: Sequence[Example], table: VisemeTable) -> EncoderData:
    """Training data whose mouth targets come from the sound times."""
    return concatenate(
        (
            example.mels,
            mouth_target(table, example.units, example.level_db, example.lead),
            frame_labels(example.units, example.frames),
        )
        for example in examples
    )


def sample_batch(data: EncoderData, windows: int, frames: int, rng: np.random.Generator) -> EncoderBatch:
    """Random windows; the mels of most are those of another vocal tract."""
    starts = rng.integers(0, len(data.mouth) - frames, windows)
    mels = []
    for start in starts:
        window = data.mels[MELS_PER_FRAME * start : MELS_PER_FRAME * (start + frames)].astype(np.float32)
        mels.append(disturb_mels(window, rng) if rng.random() < _DISTURBED_SHARE else window)
    index = starts[:, None] + np.arange(frames)
    return EncoderBatch(
        torch.from_numpy(np.stack(mels).astype(np.float32)),
        torch.from_numpy(data.mouth[index]),
        torch.from_numpy(data.labels[index]),
    )


def mixed_batch(
    sources: Sequence[tuple[EncoderData, float]], windows: int, frames: int, rng: np.random.Generator
) -> EncoderBatch:
    """A batch whose windows come from several sources in the given shares."""
    shares = np.array([share for _, share in sources])
    counts = rng.multinomial(windows, shares / shares.sum())
    batches = [
        sample_batch(data, int(count), frames, rng)
        for (data, _), count in zip(sources, counts, strict=True)
        if count
    ]
    return EncoderBatch(
        torch.cat([batch.mels for batch in batches]),
        torch.cat([batch.mouth for batch in batches]),
        torch.cat([batch.labels for batch in batches]),
    )
