import numpy as np
import pytest
import torch

from avatar_cli.assets import asset_path
from avatar_cli.families.portrait.latents import CHANNELS, MOUTH_SLICE, POSE_SLICE
from avatar_cli.families.portrait.training.generation import PLAN, Performance, load_networks, perform
from avatar_cli.families.portrait.training.heldout import in_time
from avatar_cli.media.decoding import read_sound

SILENT_TOKENS = torch.zeros(1, 128, 12)


@pytest.fixture(scope="module")
def networks():
    return load_networks(asset_path("portrait"))


@pytest.fixture(scope="module")
def speech():
    return read_sound(asset_path("demo/speech.wav"), seconds=8.0)


def test_as_many_frames_as_the_sound_needs(networks, speech):
    assert perform(networks, speech[: 16000 + 1], Performance(SILENT_TOKENS)).shape == (26, len(CHANNELS))


def test_the_start_does_not_depend_on_what_follows(networks, speech):
    long = perform(networks, speech, Performance(SILENT_TOKENS))
    short = perform(networks, speech[: 16000 * 5], Performance(SILENT_TOKENS))
    same = 125 - PLAN.chunk_frames - PLAN.interpolated_frames - 8
    assert np.array_equal(short[:same], long[:same])


def test_a_seed_repeats_the_motion_and_another_moves_the_head_otherwise(networks, speech):
    takes = [perform(networks, speech[:48000], Performance(SILENT_TOKENS, seed=seed)) for seed in (1, 1, 2)]
    assert np.array_equal(takes[0], takes[1])
    assert np.abs(takes[0][:, POSE_SLICE] - takes[2][:, POSE_SLICE]).max() > 0.01
    lips = [np.corrcoef(takes[0][:, 1], take[:, 1])[0, 1] for take in takes]
    assert lips[2] > 0.9


def test_no_mouth_moves_in_digital_silence(networks):
    motion = perform(networks, np.zeros(16000 * 4, np.float32), Performance(SILENT_TOKENS))
    assert np.all(motion[:, MOUTH_SLICE] == 0)


def test_chunks_join_without_jumps_of_the_head(networks, speech):
    motion = perform(networks, speech, Performance(SILENT_TOKENS))
    steps = np.abs(np.diff(motion[:, POSE_SLICE], axis=0))
    seams = [start - 1 for start in (48, 58, 106, 116, 164, 174)]
    assert steps[seams].max() < 3 * np.quantile(steps, 0.95)


def test_sound_is_moved_to_meet_the_picture():
    sound = np.arange(640 * 10, dtype=np.float32)
    late = in_time(sound, 2, 10)
    assert late[0] == 1280 and np.all(late[-1280:] == 0)
    early = in_time(sound, -2, 10)
    assert np.all(early[:1280] == 0) and early[1281] == 1
    assert len(late) == len(early) == 6400
