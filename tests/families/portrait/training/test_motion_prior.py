import numpy as np
import pytest

from avatar_cli.families.portrait.latents import POSE, UPPER
from avatar_cli.families.portrait.training.motion_prior import Temper, head_pose, upper_face

MINUTE = 1500


def talking(frames=4 * MINUTE):
    """Loudness of phrases of two seconds with pauses of one."""
    phrase = np.arange(frames) % 75 < 50
    syllables = 6 * np.sin(2 * np.pi * 4 * np.arange(frames) / 25)
    return np.where(phrase, -9 + syllables, -35.0)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_head_turns_by_a_few_degrees(rng):
    spread = np.degrees(head_pose(talking(), Temper(), rng)[:, :3].std(axis=0))
    assert np.all((spread > 0.8) & (spread < 4.5))


def test_lively_heads_move_more(rng):
    calm = head_pose(talking(), Temper(head=0.5), np.random.default_rng(1)).std()
    lively = head_pose(talking(), Temper(head=1.6), np.random.default_rng(1)).std()
    assert lively == pytest.approx(3.2 * calm)


def test_head_rests_while_nobody_speaks(rng):
    speaking = np.diff(head_pose(talking(), Temper(), rng)[:, 0]).std()
    silent = np.diff(head_pose(np.full(4 * MINUTE, -35.0), Temper(), rng)[:, 0]).std()
    assert silent < 0.6 * speaking


def test_people_blink_about_twenty_times_a_minute(rng):
    lids = upper_face(talking(), Temper(), rng)[:, UPPER.index("blink")]
    closings = np.sum((lids[1:] > 0.5) & (lids[:-1] <= 0.5)) / 4
    assert 12 < closings < 35
    assert lids.min() >= 0 and lids.max() <= 1


def test_no_upper_channel_has_a_level_of_its_own(rng):
    upper = upper_face(talking(), Temper(), rng)
    assert np.abs(np.median(upper, axis=0)).max() < 1e-9


def test_smiling_narrows_the_eyes(rng):
    plain, smiling = (
        upper_face(talking(), Temper(smile=smile), np.random.default_rng(2)) for smile in (0.0, 1.0)
    )
    squint = UPPER.index("squint")
    assert np.median(smiling[:, squint]) > np.median(plain[:, squint]) + 0.005


def test_same_seed_same_motion():
    first, second = (head_pose(talking(), Temper(), np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(first, second)
    assert first.shape[1] == len(POSE)
