import numpy as np
import pytest

from avatar_cli.families.portrait.habits import USUAL, Habits
from avatar_cli.families.portrait.latents import POSE, UPPER
from avatar_cli.families.portrait.training.motion_prior import head_pose, upper_face
from avatar_cli.families.portrait.training.tempers import temper_of
from avatar_cli.families.portrait.vocabulary import WORDS

MINUTE = 1500


def talking(frames=4 * MINUTE):
    """Loudness of phrases of two seconds with pauses of one."""
    phrase = np.arange(frames) % 75 < 50
    syllables = 6 * np.sin(2 * np.pi * 4 * np.arange(frames) / 25)
    return np.where(phrase, -9 + syllables, -35.0)


def temper(*words, frames=4 * MINUTE):
    prompt = np.zeros((frames, len(WORDS)))
    prompt[:, [WORDS.index(word) for word in words]] = 1.0
    return temper_of(prompt)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_head_turns_by_a_few_degrees(rng):
    spread = np.degrees(head_pose(talking(), temper(), USUAL, rng)[:, :3].std(axis=0))
    assert np.all((spread > 0.8) & (spread < 4.5))


def test_lively_heads_move_more(rng):
    calm = head_pose(talking(), temper("calm"), USUAL, np.random.default_rng(1)).std()
    lively = head_pose(talking(), temper("lively"), USUAL, np.random.default_rng(1)).std()
    assert lively > 3 * calm


def test_range_of_the_head_is_a_habit_and_its_tempo_another():
    def spread_and_speed(habits):
        yaw = head_pose(talking(), temper(), habits, np.random.default_rng(1))[:, 0]
        return yaw.std(), np.diff(yaw).std() / yaw.std()

    usual, far, quick = (spread_and_speed(habits) for habits in (USUAL, Habits(head=0.7), Habits(tempo=0.5)))
    assert far == pytest.approx((np.exp(0.7) * usual[0], usual[1]))
    assert quick[0] == pytest.approx(usual[0], rel=0.2)
    assert quick[1] == pytest.approx(np.exp(0.5) * usual[1], rel=0.15)


def test_head_rests_while_nobody_speaks(rng):
    speaking = np.diff(head_pose(talking(), temper(), USUAL, rng)[:, 0]).std()
    silent = np.diff(head_pose(np.full(4 * MINUTE, -35.0), temper(), USUAL, rng)[:, 0]).std()
    assert silent < 0.6 * speaking


def test_people_blink_about_twenty_times_a_minute(rng):
    lids = upper_face(talking(), temper(), USUAL, rng)[:, UPPER.index("blink")]
    closings = np.sum((lids[1:] > 0.5) & (lids[:-1] <= 0.5)) / 4
    assert 12 < closings < 35
    assert lids.min() >= 0 and lids.max() <= 1


def test_blinks_are_a_habit():
    def closings(habits):
        lids = upper_face(talking(), temper(), habits, np.random.default_rng(0))[:, UPPER.index("blink")]
        return np.sum((lids[1:] > 0.5) & (lids[:-1] <= 0.5))

    assert closings(Habits(blinks=0.7)) > 1.5 * closings(USUAL) > 2.5 * closings(Habits(blinks=-0.7))


def test_surprised_lids_are_wide_and_still_blink():
    lids = upper_face(talking(), temper("surprised"), USUAL, np.random.default_rng(0))[
        :, UPPER.index("blink")
    ]
    assert np.median(lids) < -0.1
    assert lids.max() > 0.9


def test_no_upper_channel_has_a_level_of_its_own(rng):
    upper = upper_face(talking(), temper(), USUAL, rng)
    assert np.abs(np.median(upper, axis=0)).max() < 1e-9


def test_smiling_narrows_the_eyes(rng):
    plain, smiling = (
        upper_face(talking(), temper(*words), USUAL, np.random.default_rng(2)) for words in ((), ("smiling",))
    )
    squint = UPPER.index("squint")
    assert np.median(smiling[:, squint]) > np.median(plain[:, squint]) + 0.005


def test_same_seed_same_motion():
    first, second = (head_pose(talking(), temper(), USUAL, np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(first, second)
    assert first.shape[1] == len(POSE)
