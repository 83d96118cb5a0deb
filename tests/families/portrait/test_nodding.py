from fractions import Fraction

import numpy as np
import pytest
import torch

from avatar_cli.families.portrait.latents import CHANNELS
from avatar_cli.families.portrait.nodding import WORD, Nods
from avatar_cli.families.portrait.vocabulary import WORDS
from avatar_cli.protocol.job import Cue, Prompted
from avatar_cli.runtime.span import Span

PITCH = CHANNELS.index("pitch")


def cue(seconds, intensity):
    return Cue(Fraction(seconds), (Prompted(WORD, intensity),))


def pitch(nods, start=0, stop=500):
    return nods.added(torch.zeros(stop - start, len(CHANNELS)), Span(start, stop))[:, PITCH].numpy()


def test_it_is_a_word_of_the_vocabulary():
    assert WORD in WORDS


def test_nobody_nods_unasked():
    motion = torch.randn(20, len(CHANNELS))
    other = Cue(Fraction(0), (Prompted("smiling", 1.0),))
    assert torch.equal(Nods().added(motion, Span(0, 20)), motion)
    assert torch.equal(Nods((other,)).added(motion, Span(0, 20)), motion)


def test_nods_come_about_once_a_second_and_as_far_as_asked():
    once = pitch(Nods((cue(0, 1.0),)))
    nods = np.sum((once[1:] > 0) & (once[:-1] <= 0))
    assert 15 <= nods <= 30  # in 20 s
    assert 0.05 < once.max() < 0.11
    assert pitch(Nods((cue(0, 0.5),))) == pytest.approx(0.5 * once, abs=1e-6)


def test_nods_go_on_from_chunk_to_chunk():
    nods = Nods((cue(0, 1.0),), seed=4)
    assert np.array_equal(np.concatenate([pitch(nods, 0, 48), pitch(nods, 48, 500)]), pitch(nods))


def test_a_cue_is_followed_from_its_time_on_without_a_jump():
    always, later = pitch(Nods((cue(0, 1.0),))), pitch(Nods((cue(0, 0.0), cue(4, 1.0))))
    assert np.all(later[:100] == 0)
    assert later[113:] == pytest.approx(always[113:], abs=1e-6)
    assert np.abs(np.diff(later)).max() < 1.5 * np.abs(np.diff(always)).max()


def test_another_seed_nods_at_other_moments():
    one, other = pitch(Nods((cue(0, 1.0),), seed=0)), pitch(Nods((cue(0, 1.0),), seed=1))
    assert np.abs(np.corrcoef(one, other)[0, 1]) < 0.9
