from dataclasses import replace

import numpy as np
import pytest

from avatar_cli.families.portrait.frame_facts import facts_of
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from avatar_cli.families.portrait.shots import ShotsOfPerson
from avatar_cli.media.video_reference import VideoFrame


@pytest.fixture(scope="module")
def frame(picture):
    return VideoFrame(0.0, 0, picture)


@pytest.fixture(scope="module")
def person(frame, face):
    return facts_of(frame, face, load_motion_basis().shape)


@pytest.fixture(scope="module")
def other(person):
    colours = np.random.default_rng(5).random(person.colours.shape).astype(np.float32)
    return replace(person, colours=colours)


def turned(facts):
    return replace(facts, turn=1.0)


@pytest.fixture
def watch(frame, face):
    def watch(*shots):
        found = ShotsOfPerson()
        for number, facts in enumerate(shots):
            found.take(frame, face, replace(facts, shot=number, seconds=float(number)))
            found.end_shot()
        return found

    return watch


def shots_of(found):
    return [facts.shot for facts in found.seen]


def test_the_person_counts_before_and_after_somebody_else(watch, person, other):
    found = watch(person, other, person, other)
    assert shots_of(found) == [0, 2]
    assert (found.left_out, found.left_out_from) == (2, 1.0)


def test_a_shot_without_a_frontal_face_is_passed_over_and_not_called_another_person(watch, person, other):
    found = watch(person, turned(other), person)
    assert shots_of(found) == [0, 2]
    assert found.left_out == 0


def test_a_frontal_face_is_taken_for_the_person_that_was_seen_from_the_side(watch, person, other):
    assert shots_of(watch(turned(person), person, other)) == [0, 1]


def test_better_frames_of_a_later_shot_are_kept_and_those_of_somebody_else_are_not(watch, person, other):
    blinking, wide = replace(person, lids=0.01), replace(other, gap=0.3)
    found = watch(replace(person, gap=0.2), wide, blinking, replace(person, gap=-0.1))
    assert found.best.neutral.facts.gap < 0
    assert found.best.open_mouth(person.sharpness) is not None
    assert found.best.closed_eyes(person.sharpness, person.lids) is not None
    assert found.best._open_mouth.facts.gap == 0.2


def test_a_shot_without_a_face_changes_nothing(watch, frame, person):
    found = watch(person)
    found.end_shot()
    assert shots_of(found) == [0]
    assert found.left_out == 0
