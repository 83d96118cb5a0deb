import math
from dataclasses import replace

import numpy as np
import pytest

from avatar_cli.families.portrait.face_mesh import Face
from avatar_cli.families.portrait.frame_facts import facts_of
from avatar_cli.families.portrait.geometry import rotation_matrix
from avatar_cli.families.portrait.habit_measures import measure_habits
from avatar_cli.families.portrait.habits import USUAL_BLINKS, USUAL_GAP_RANGE, USUAL_HEAD, Habits
from avatar_cli.families.portrait.latents import CHANNELS, MOUTH
from avatar_cli.families.portrait.measures import measure_mouth
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from avatar_cli.media.video_reference import WATCHED_FPS, VideoFrame

RATE = float(WATCHED_FPS)
BLANK = np.random.default_rng(0).integers(0, 255, (200, 200, 3), np.uint8)
BASIS = load_motion_basis()


def person(seconds, yaw=0.0, gap=0.0, blinks=0, start=0, turned=0.0):
    """Frames of a head that turns by `yaw` radians s.d. at 0.5 Hz, opens its mouth by `gap` and blinks."""
    frames = []
    count = int(seconds * RATE)
    shut = {round((n + 0.5) * count / blinks) + more for n in range(blinks) for more in (0, 1)}
    for number in range(count):
        time = number / RATE
        latents = np.zeros(len(CHANNELS), np.float32)
        latents[CHANNELS.index("gap")] = gap * (0.5 + 0.5 * math.sin(2 * math.pi * 3.1 * time))
        mesh = BASIS.shape + BASIS.displacement(latents)
        angle = turned + math.sqrt(2) * yaw * math.sin(2 * math.pi * 0.5 * time)
        landmarks = 40 * mesh @ rotation_matrix(angle, 0, 0).T + [100, 80, 0]
        face = Face(landmarks.astype(np.float32), np.zeros(52, np.float32), 1.0)
        facts = facts_of(VideoFrame(start + time, 0, BLANK), face, BASIS.shape)
        frames.append(replace(facts, lids=facts.lids * (0.2 if number in shut else 1.0)))
    return frames


def habits(frames, voice=True):
    heard = None if voice is None else np.full(len(frames), voice)
    return measure_habits(frames, BASIS.shape, heard)


def test_a_longer_look_is_believed_more_and_never_beyond_the_truth():
    truth = math.log(2)
    believed = [habits(person(s, yaw=2 * USUAL_HEAD * math.sqrt(3))).head for s in (4, 8, 16)]
    assert 0.3 < believed[0] < believed[1] < believed[2] < truth


def test_a_lively_head_and_a_still_one_lie_on_either_side_of_the_usual():
    assert habits(person(10, yaw=0.12)).head > 0.2
    assert habits(person(10, yaw=0.02)).head < -0.5


def test_a_quick_head_has_a_higher_tempo_than_a_slow_one():
    slow = person(10, yaw=0.08)
    quick = [replace(frame, seconds=frame.seconds) for frame in slow[::2]]
    times = [frame.seconds for frame in slow]
    quick = [replace(frame, seconds=times[n]) for n, frame in enumerate(quick)]
    assert habits(quick).tempo > habits(slow).tempo + 0.3


def test_blinks_are_counted_and_few_seconds_leave_them_usual():
    often = habits(person(16, blinks=12)).blinks
    never = habits(person(16)).blinks
    assert often > 0.4
    assert never < -0.4
    expected = math.log(20 / 60 * 20 / (20 / 60 * 36))
    assert never == pytest.approx(expected, abs=0.01)
    assert abs(habits(person(1.5)).blinks) < 0.1
    assert abs(habits(person(15, blinks=round(USUAL_BLINKS / 4))).blinks) < 0.05


def test_a_mouth_is_compared_with_the_usual_one_of_its_width():
    assert habits(person(8, gap=2 * USUAL_GAP_RANGE)).mouth > 0.3
    assert habits(person(8, gap=USUAL_GAP_RANGE / 3)).mouth < -0.3


def test_lips_count_only_while_somebody_speaks():
    assert habits(person(8, gap=2 * USUAL_GAP_RANGE), voice=False).mouth == 0.0
    silent_film = habits(person(8, gap=2 * USUAL_GAP_RANGE), voice=None)
    assert silent_film.mouth > 0.3
    assert habits(person(8), voice=None).mouth == 0.0


def test_nothing_is_measured_across_the_gap_between_two_runs():
    """A head that is turned elsewhere after a gap has not turned there in a twelfth of a second."""
    first = person(4, yaw=0.02)
    far = habits(first + person(4, yaw=0.02, start=20, turned=0.3))
    together = habits(first + person(4, yaw=0.02, start=4, turned=0.3))
    assert far.tempo < together.tempo - 0.2


def test_too_little_tells_nothing():
    assert habits(person(0.5)) == Habits()


def test_the_made_up_mouth_opens_as_far_as_it_is_told():
    gaps = [measure_mouth(frame.canonical)[MOUTH.index("gap")] for frame in person(3, gap=0.2)]
    assert max(gaps) - min(gaps) == pytest.approx(0.2, abs=0.04)
