import numpy as np
import pytest

from avatar_cli.evaluation.held_out import CLIPS
from avatar_cli.evaluation.mouth_accuracy import Pair, in_step, matched, swapped


def curve(seed, frames):
    noise = np.random.default_rng(seed).normal(size=frames + 8)
    return np.convolve(noise, np.hanning(9), "valid")


@pytest.fixture
def pairs():
    """Renders that follow their person one frame late, with as much noise as signal."""
    lengths = (300, 200, 250, 300)
    made = []
    for index, (clip, frames) in enumerate(zip(CLIPS, lengths, strict=False)):
        real = curve(index, frames)
        rendered = np.roll(real, 1) + curve(index + 100, frames)
        made.append(Pair(clip, real, rendered, np.ones(frames, bool)))
    return made


def test_a_render_that_follows_its_person_is_matched_at_its_lag(pairs):
    for pair in pairs:
        assert matched(pair).lag == 1
        assert matched(pair).correlation > 0.5
        assert in_step(pair) < matched(pair).correlation


def test_every_render_is_compared_with_every_other_person(pairs):
    names = [(found.rendered, found.real) for found in swapped(pairs)]

    assert len(names) == len(set(names)) == 12
    assert all(rendered != real for rendered, real in names)


def test_swapped_speech_does_not_match(pairs):
    found = swapped(pairs)

    assert abs(np.mean([pair.same_lag for pair in found])) < 0.1
    assert np.mean([pair.best_lag for pair in found]) > np.mean([pair.same_lag for pair in found])
