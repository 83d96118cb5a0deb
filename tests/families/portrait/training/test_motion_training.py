import numpy as np
import pytest
import torch

from avatar_cli.families.portrait.a2v_dit import MotionDiT, MotionDiTParams
from avatar_cli.families.portrait.audio_encoder import AudioEncoder, AudioEncoderParams
from avatar_cli.families.portrait.habits import USUAL, Habits
from avatar_cli.families.portrait.latents import CHANNELS, MOUTH, MOUTH_SLICE
from avatar_cli.families.portrait.text_encoder import TextEncoder, TextEncoderParams
from avatar_cli.families.portrait.training.encoder_data import concatenate
from avatar_cli.families.portrait.training.encoder_training import EncoderStage, train_encoder
from avatar_cli.families.portrait.training.identities import Identity
from avatar_cli.families.portrait.training.motion_data import Recording, WindowShape, sample_windows
from avatar_cli.families.portrait.training.motion_training import (
    WINDOWS,
    MotionData,
    PromptedMotion,
    flow_loss,
    train_motion,
)
from avatar_cli.families.portrait.training.optimisation import Schedule
from avatar_cli.families.portrait.training.tempers import temper_of
from avatar_cli.families.portrait.vocabulary import WORDS


def recording(frames=90, words=(), identity=None, value=0.05, habits=USUAL):
    prompt = np.zeros((frames, len(WORDS)), np.float32)
    prompt[:, [WORDS.index(word) for word in words]] = 1.0
    motion = np.zeros((frames, len(CHANNELS)), np.float32)
    motion[:, MOUTH_SLICE] = value
    tokens = np.zeros((frames, 16), np.float16)
    mean = np.zeros((frames, 9), np.float32)
    return Recording(tokens, mean, motion, prompt, temper_of(prompt), habits, identity)


def mouth_of(made, scale=1.0):
    """Mouth distances [9] of the first frame of a window of this recording."""
    shape = WindowShape(0, 0, 20, 0)
    batch = sample_windows([made], [identity(scale)], shape, 1, np.random.default_rng(0))
    return dict(zip(MOUTH, batch.motion[0, 0, MOUTH_SLICE].tolist(), strict=True))


def identity(scale):
    return Identity(np.full((128, 12), scale, np.float32), scale)


def test_window_leaves_the_gap_out():
    shape = WindowShape(before=6, gap=10, frames=48, after=0)
    assert shape.offsets[:7].tolist() == [-16, -15, -14, -13, -12, -11, 0]
    assert shape.offsets[-1] == 47
    assert shape.mask.sum() == 6


def test_window_between_two_anchors_is_contiguous():
    shape = WindowShape(before=6, gap=0, frames=10, after=6)
    assert np.array_equal(shape.offsets, np.arange(-6, 16))
    assert shape.mask.tolist() == [1.0] * 6 + [0.0] * 10 + [1.0] * 6


def test_windows_of_the_product_are_trained_on():
    rng = np.random.default_rng(0)
    drawn = {
        (shape.before, shape.gap, shape.frames, shape.after) for mix in WINDOWS for shape in [mix.draw(rng)]
    }
    assert {(6, 10, 48, 0), (6, 0, 10, 6), (6, 5, 12, 0)} <= drawn


def test_mouth_moves_as_far_as_the_tokens_say():
    rng = np.random.default_rng(0)
    for scale in (0.8, 1.3):
        batch = sample_windows([recording()], [identity(scale)], WindowShape(0, 0, 20, 0), 2, rng)
        assert torch.allclose(batch.motion[..., MOUTH_SLICE], torch.tensor(0.05 * scale))
        assert torch.all(batch.reference == scale)


def test_filmed_people_keep_their_own_motion_and_tokens():
    filmed = recording(identity=identity(1.3))
    batch = sample_windows([filmed], [identity(0.8)], WindowShape(0, 0, 20, 0), 1, np.random.default_rng(0))
    assert torch.allclose(batch.motion[..., MOUTH_SLICE], torch.tensor(0.05))
    assert torch.all(batch.reference == 1.3)


def test_smile_widens_and_lifts_the_corners():
    plain, smiling = mouth_of(recording(value=0.0)), mouth_of(recording(value=0.0, words=("smiling",)))
    assert not any(plain.values())
    assert smiling["width"] > 0.03 and smiling["corner_y"] < -0.01
    assert smiling["gap"] == 0


def test_habits_of_the_mouth_open_and_spread_it():
    usual = mouth_of(recording())
    wide = mouth_of(recording(habits=Habits(mouth=0.5)))
    spread = mouth_of(recording(habits=Habits(width=0.5)))
    assert wide["gap"] == pytest.approx(np.exp(0.5) * usual["gap"]) and wide["width"] == usual["width"]
    assert spread["width"] == pytest.approx(np.exp(0.5) * usual["width"]) and spread["gap"] == usual["gap"]


def test_motion_training_learns_what_the_tokens_say():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    recordings = []
    for _ in range(8):
        made = recording()
        made.motion[:] += 0.05 * rng.standard_normal((1, len(CHANNELS))).astype(np.float32)
        made.tokens[:] = 10 * made.motion[:, :16]
        recordings.append(made)
    small = MotionDiTParams(width=32, blocks=1, heads=2, audio_width=16, prompt_width=8)
    network = PromptedMotion(MotionDiT(small), TextEncoder(TextEncoderParams(width=8, hidden=16)))
    data = MotionData(recordings, recordings, [identity(1.0)], filmed_share=0.0)
    losses = []
    for steps in (1, 25):
        trained = train_motion(network, data, Schedule(steps, 1e-2), seed=1)
        torch.manual_seed(2)
        generator = np.random.default_rng(3)
        losses.append(
            np.mean([flow_loss(trained, data.draw(generator), generator)[0].item() for _ in range(3)])
        )
    assert losses[1] < 0.8 * losses[0]


def test_encoder_training_lowers_its_loss():
    rng = np.random.default_rng(0)
    loud = np.repeat(rng.random(800) < 0.5, 4)
    mels = np.where(loud[:, None], 0.5, -1.5) * np.ones((1, 48))
    mouth = np.where(loud[::4, None], 0.06, 0.0) * np.ones((1, 9))
    data = concatenate([(mels, mouth, np.where(loud[::4], 26, 0))])
    torch.manual_seed(0)
    encoder = AudioEncoder(AudioEncoderParams(width=16))
    stage = EncoderStage(Schedule(70, 6e-3), [(data, 1.0)], windows=3, frames=90)
    trained = train_encoder(encoder, [stage], seed=1)
    with torch.no_grad():
        mean = trained(torch.from_numpy(mels[: 4 * 200].astype(np.float32))[None]).mean[0, 50:150, 1].numpy()
    assert np.corrcoef(mean, mouth[50:150, 1])[0, 1] > 0.8
