from dataclasses import replace

import numpy as np
import pytest

from avatar_cli.evaluation.quality.prompt_effects import Lips, changes, curves_beside, lips, look, nods
from avatar_cli.evaluation.quality.prompts import CLAIMS, holds, prompt_table, prompts
from avatar_cli.evaluation.tracks import FaceTrack, remove_pose
from avatar_cli.families.portrait.geometry import rotation_matrix
from avatar_cli.families.portrait.motion_basis import load_motion_basis

FRAMES = 200


@pytest.fixture
def usual(face_curves, wander):
    return look(face_curves(FRAMES, gap=np.abs(wander(1, FRAMES)), pitch=0.02 * wander(2, FRAMES)))


def track(turn):
    """A face of the mean shape that is turned to the right by radians [T]."""
    shape = load_motion_basis().shape
    meshes = [100 * shape @ rotation_matrix(angle, 0.0, 0.0).T + 200 for angle in turn]
    landmarks = np.stack(meshes).astype(np.float32)
    canonical, poses = remove_pose(landmarks)
    return FaceTrack(landmarks, canonical, poses, np.ones(len(turn), bool))


def test_directions_are_as_named(face_curves):
    up = look(face_curves(FRAMES, corner_y=-0.02, brow_y=-0.3, gaze_x=0.4, gaze_y=0.2, pitch=0.1, yaw=0.2))

    assert up.corners_up == pytest.approx(2)
    assert up.brows_up == pytest.approx(30)
    assert (up.gaze_right, up.gaze_down) == pytest.approx((40, 20))
    assert (up.turn_right, up.turn_down) == pytest.approx(np.degrees((0.2, 0.1)), rel=1e-5)


def test_ranges_are_compared_by_factors_and_levels_by_differences(usual):
    changed = replace(usual, head=2 * usual.head, width=usual.width + 3)

    found = changes(changed, usual)

    assert (found["head"], found["mouth"], found["width"], found["lids"]) == pytest.approx((2, 1, 3, 0))


def test_nods_are_counted_and_slow_or_small_motion_is_none():
    time = np.arange(250) / 25

    assert nods(3 * np.sin(2 * np.pi * time)) in (9, 10)
    assert nods(0.3 * np.sin(2 * np.pi * time)) == 0
    assert nods(5 * np.sin(2 * np.pi * time / 10)) == 0


def test_a_head_that_is_turned_all_the_time_is_seen_beside_one_that_is_not():
    wobble = 0.02 * np.sin(np.arange(60) / 5)
    straight, turned = track(wobble), track(wobble + 0.1)

    found = curves_beside(turned, straight)

    assert found.angles[:, 0].mean() == pytest.approx(np.degrees(0.1), abs=0.3)
    assert abs(curves_beside(straight, straight).angles[:, 0].mean()) < 0.5


def test_lips_that_come_late_are_told(face_curves, wander):
    motion = {"gap": np.abs(wander(1, FRAMES)), "width": wander(2, FRAMES), "jaw_drop": wander(3, FRAMES)}
    late = {name: np.roll(values, 2) for name, values in motion.items()}

    found = lips(face_curves(FRAMES, **late), face_curves(FRAMES, **motion), np.ones(FRAMES, bool), [])

    assert found == Lips(2, (0, 0))


def test_every_word_claims_something_and_some_are_graded():
    assert all(CLAIMS.values())
    assert {"slightly smiling", "smiling", "very smiling"} <= set(prompts())
    assert "very calm" not in prompts()


def test_a_word_holds_where_all_it_claims_moves_further_than_by_chance(usual):
    chance = changes(replace(usual, width=usual.width + 1), usual)
    smile = replace(usual, width=usual.width + 2, corners_up=usual.corners_up + 1)

    assert holds("smiling", changes(smile, usual), chance)
    assert not holds("smiling", changes(replace(smile, width=usual.width + 0.5), usual), chance)
    assert not holds("sad", changes(smile, usual), chance)
    assert holds("still head", changes(replace(usual, head=0.2 * usual.head), usual), chance)


def test_the_table_judges_words_alone(usual):
    smile = replace(usual, width=usual.width + 2, corners_up=usual.corners_up + 1)
    spoken = Lips(0, (3, 4))
    found = {"no prompt": usual, "no prompt, another seed": usual, "very smiling": smile, "sad": smile}

    lines = prompt_table({name: (seen, spoken) for name, seen in found.items()}).splitlines()

    assert lines[2].startswith("| no prompt |  |")
    assert "+2.0 %" in lines[4]
    assert [line.split(" | ")[-1] for line in lines[2:]] == [" |", " |", "yes |", "**no** |"]
    assert all("3 of 4" in line for line in lines[2:])
