"""The voice detector gives what onnxruntime makes of the published graph."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from avatar_cli.families.portrait.voice_detector import CONTEXT, WINDOW
from tests.families.portrait.voices import demo_speech, white_noise

GOLDEN = json.loads((Path(__file__).parent / "golden" / "voice_probabilities.json").read_text())
SOUNDS = {"demo speech": demo_speech, "white noise": lambda: white_noise(3)}


@pytest.fixture(scope="module")
def detector(family):
    return family._networks.voice_detector.network


def probabilities(detector, samples, windows, at_once=5):
    heard = torch.from_numpy(np.pad(samples, (CONTEXT, 0))[: CONTEXT + windows * WINDOW])
    state, given = (torch.zeros(1, 1, 128), torch.zeros(1, 1, 128)), []
    for pieces in heard.unfold(0, CONTEXT + WINDOW, WINDOW).split(at_once):
        with torch.no_grad():
            more, state = detector(pieces, state)
        given.append(more)
    return torch.cat(given).numpy()


@pytest.mark.parametrize("name", SOUNDS)
def test_probabilities_are_those_of_the_published_graph(detector, name):
    given = probabilities(detector, SOUNDS[name](), len(GOLDEN[name]))
    assert np.abs(given - GOLDEN[name]).max() < 1e-3


def test_values_are_the_same_each_time_and_with_two_threads(detector):
    speech = demo_speech()
    once = probabilities(detector, speech, 60)
    torch.set_num_threads(2)
    twice = probabilities(detector, speech, 60)
    torch.set_num_threads(1)
    assert np.array_equal(once, twice)
