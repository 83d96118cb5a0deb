"""Training windows of the motion network: whole motion latents beside the audio tokens of the same frames."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from avatar_cli.families.portrait.audio_encoder import AudioEncoder, AudioTokens
from avatar_cli.families.portrait.audio_features import MELS_PER_FRAME
from avatar_cli.families.portrait.habits import HABITS, Habits
from avatar_cli.families.portrait.latents import MOUTH, MOUTH_SLICE
from avatar_cli.families.portrait.training.corpus import Example
from avatar_cli.families.portrait.training.identities import Identity
from avatar_cli.families.portrait.training.motion_prior import band_noise, head_pose, upper_face
from avatar_cli.families.portrait.training.spoken_clips import SpokenClip
from avatar_cli.families.portrait.training.tempers import Temper, draw_prompt, temper_of
from avatar_cli.families.portrait.training.visemes import GAP, VisemeTable, contact, mouth_target
from avatar_cli.families.portrait.vocabulary import WORDS

_VARIATION_BAND_HZ = (0.7, 6.0)
_VARIATION = 0.10  # rms of what speech does not say about the mouth, relative to the channel's spread
_SPREAD = {
    "jaw_drop": 0.017,
    "gap": 0.040,
    "width": 0.017,
    "upper_lip_y": 0.013,
    "corner_y": 0.007,
    "shift_x": 0.006,
}
_WIDTH = MOUTH.index("width")
_SPREADING = tuple(MOUTH.index(name) for name in ("width", "protrude"))
_USUAL_HABIT_SHARE = 0.25  # of the recordings with the usual for a habit, as for any photo
_HABIT_SPREAD = 0.5


@dataclass(frozen=True)
class Recording:
    """One recording of n frames as the motion network sees it.

    `tokens` float16 [n, d] and `mean` float32 [n, 9] are the audio encoder's; `motion` float32 [n, 21] the
    latents of a person whose mouth moves by the usual amount, without what prompt and habits do to the mouth.
    `prompt` float32 [n, V] are the intensities of WORDS in each frame, `temper` what they make of the person.
    `identity` is the person who was filmed, None where the mouth may be anybody's.
    """

    tokens: np.ndarray
    mean: np.ndarray
    motion: np.ndarray
    prompt: np.ndarray
    temper: Temper
    habits: Habits
    identity: Identity | None = None

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.motion)


@dataclass(frozen=True)
class WindowShape:
    """Which frames a window holds: `before` clean ones, `gap` left out, `frames` to make, `after` clean
    ones.
    """

    before: int
    gap: int
    frames: int
    after: int

    @property
    def offsets(self) -> np.ndarray:
        """Frame numbers int64 relative to the first frame to make."""
        border = np.arange(-self.gap - self.before, -self.gap)
        return np.concatenate([border, np.arange(self.frames + self.after)])

    @property
    def mask(self) -> np.ndarray:
        """1 at clean frames; float32 [n]."""
        return np.concatenate([np.ones(self.before), np.zeros(self.frames), np.ones(self.after)]).astype(
            np.float32
        )


@dataclass(frozen=True)
class MotionBatch:
    """B windows of the same shape, n frames each.

    `motion` [B, n, 21] in latent units; `audio` of the same frames; `mask` [1, n, 1]; `positions` [1, n];
    `reference` [B, 128, 12]; `prompt` [B, n, V] intensities; `habits` [B, 5].
    """

    motion: Tensor
    audio: AudioTokens
    mask: Tensor
    positions: Tensor
    reference: Tensor
    prompt: Tensor
    habits: Tensor


def encode(encoder: AudioEncoder, mels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Tokens float16 [n, d] and mean float32 [n, 9] of one recording's mels [4n, 48]."""
    with torch.no_grad():
        encoded = encoder(torch.from_numpy(mels.astype(np.float32))[None])
    return encoded.tokens[0].numpy().astype(np.float16), encoded.mean[0].numpy()


def synthetic_recording(
    example: Example, table: VisemeTable, encoder: AudioEncoder, rng: np.random.Generator
) -> Recording:
    """A speaker invented for this sound: mouth by the viseme model, the rest by the motion prior."""
    prompt, habits = draw_prompt(example.frames, rng), draw_habits(rng)
    temper = temper_of(prompt)
    mouth = mouth_target(table, example.units, example.level_db, example.lead)
    motion = np.concatenate(
        [
            mouth + _variation(example, rng),
            upper_face(example.level_db, temper, habits, rng),
            head_pose(example.level_db, temper, habits, rng),
        ],
        axis=1,
    )
    tokens, mean = encode(encoder, example.mels)
    return Recording(tokens, mean, motion.astype(np.float32), prompt, temper, habits)


def draw_habits(rng: np.random.Generator) -> Habits:
    """Random habits, each by itself."""
    drawn = np.clip(rng.normal(0.0, _HABIT_SPREAD, len(HABITS)), -1.0, 1.0)
    usual = rng.random(len(HABITS)) < _USUAL_HABIT_SHARE
    return Habits(*np.where(usual, 0.0, drawn).tolist())


def filmed_recording(
    clip: SpokenClip, example: Example, identity: Identity, encoder: AudioEncoder
) -> Recording:
    """A training clip with its own motion, and with the habits it shows. The people of these clips read
    sentences into a camera: they count as those who keep their heads still.
    """
    frames = len(clip.clip.latents)
    tokens, mean = encode(encoder, example.mels[: MELS_PER_FRAME * frames])
    motion = clip.clip.latents[: len(tokens)].copy()
    motion[:, MOUTH_SLICE.stop + 1 :] -= np.median(motion[:, MOUTH_SLICE.stop + 1 :], axis=0)
    prompt = np.zeros((len(motion), len(WORDS)), np.float32)
    prompt[:, WORDS.index("still head")] = 1.0
    habits = _shown_habits(motion, mean, identity)
    return Recording(tokens, mean, motion, prompt, temper_of(prompt), habits, identity)


def sample_windows(
    recordings: Sequence[Recording],
    identities: Sequence[Identity],
    shape: WindowShape,
    count: int,
    rng: np.random.Generator,
) -> MotionBatch:
    """Random windows of one shape."""
    offsets = shape.offsets
    span = int(offsets[-1] - offsets[0]) + 1
    motion: list[np.ndarray] = []
    tokens: list[np.ndarray] = []
    mean: list[np.ndarray] = []
    reference: list[np.ndarray] = []
    prompt: list[np.ndarray] = []
    habits: list[np.ndarray] = []
    while len(motion) < count:
        recording = recordings[int(rng.integers(len(recordings)))]
        if recording.frames < span:
            continue
        frames = rng.integers(recording.frames - span + 1) - offsets[0] + offsets
        identity = recording.identity or identities[int(rng.integers(len(identities)))]
        motion.append(_performed(recording, frames, identity))
        tokens.append(recording.tokens[frames].astype(np.float32))
        mean.append(recording.mean[frames])
        reference.append(identity.tokens)
        prompt.append(recording.prompt[frames])
        habits.append(recording.habits.vector())
    audio = AudioTokens(
        torch.from_numpy(np.stack(tokens)),
        torch.from_numpy(np.stack(mean)),
        torch.empty(count, len(offsets), 0),
    )
    return MotionBatch(
        motion=torch.from_numpy(np.stack(motion)),
        audio=audio,
        mask=torch.from_numpy(shape.mask)[None, :, None],
        positions=torch.from_numpy(offsets)[None],
        reference=torch.from_numpy(np.stack(reference)),
        prompt=torch.from_numpy(np.stack(prompt)),
        habits=torch.from_numpy(np.stack(habits)),
    )


def _performed(recording: Recording, frames: np.ndarray, identity: Identity) -> np.ndarray:
    """Motion [n, 21] of these frames as this person, with these habits and in this temper, makes it."""
    motion = recording.motion[frames].copy()
    if recording.identity is None:
        temper, habits = recording.temper, recording.habits
        mouth = motion[:, MOUTH_SLICE] * identity.mouth_scale * temper.mouth[frames, None]
        mouth *= np.exp(_mouth_habits(habits))
        mouth[:, _WIDTH] *= np.where(mouth[:, _WIDTH] < 0, temper.rounding[frames], 1.0)
        motion[:, MOUTH_SLICE] = mouth + temper.level[frames, MOUTH_SLICE]
    return motion


def _mouth_habits(habits: Habits) -> np.ndarray:
    """Logarithm of the factor on each mouth distance, [9]."""
    return np.array([habits.width if c in _SPREADING else habits.mouth for c in range(len(MOUTH))])


def _shown_habits(motion: np.ndarray, mean: np.ndarray, identity: Identity) -> Habits:
    """Habits of who moves like this [n, 21] where speech says `mean` [n, 9]; the head counts as usual, since
    a prompt keeps it still.
    """
    spread, usual = (
        np.quantile(mouth, 0.95, axis=0) - np.quantile(mouth, 0.05, axis=0)
        for mouth in (motion[:, MOUTH_SLICE], mean)
    )
    ratio = np.clip(np.log(spread / usual / identity.mouth_scale), -1.0, 1.0)
    return Habits(mouth=float(ratio[GAP]), width=float(ratio[_WIDTH]))


def _variation(example: Example, rng: np.random.Generator) -> np.ndarray:
    """Small movements of the mouth that no sound asks for, absent where lips touch and in pauses; [n, 9]."""
    frames = example.frames
    touching = contact(example.units, "P B M F V SIL", frames, example.lead)
    free = 1.0 - np.minimum(touching, 1.0)
    variation = np.zeros((frames, len(MOUTH)))
    for channel, name in enumerate(MOUTH):
        if name in _SPREAD:
            variation[:, channel] = (
                _VARIATION * _SPREAD[name] * free * band_noise(frames, *_VARIATION_BAND_HZ, rng)
            )
    return variation
