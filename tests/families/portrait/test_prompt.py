"""What prompts and cues change, and from which frame on, at the end of the audio-to-video stage."""

import dataclasses
from fractions import Fraction

import pytest
import torch

from avatar_cli.families.portrait.family import prompt_track
from avatar_cli.families.portrait.vocabulary import WORDS
from avatar_cli.media.speech_source import SpeechSource
from avatar_cli.protocol.job import Cue, Prompted
from avatar_cli.runtime.stage import Piece


def cue(at, *words):
    return Cue(Fraction(at), tuple(Prompted(word, 1.0) for word in words))


@pytest.fixture
def latents(run, speech):
    """Makes the latents [n, 21] of 3.5 s of speech, in order of time, as cues ask for them."""
    family, generation = run.family, run.generation

    def make(*cues):
        prompt = prompt_track(cues, family._networks.text_encoder.network)
        conditioning = dataclasses.replace(run.conditioning, prompt=prompt)
        source = SpeechSource(speech(3.5), run.picture.fps, keep_sound=False)
        graph = family.graph(conditioning, source, generation, run.picture)
        plan, fps = family.plan(generation), family.facts.fps
        states = graph.context.open(conditioning), graph.audio_to_video.open(conditioning)
        pieces = []
        for chunk in plan.work_order(lambda frame: source.covers(frame / fps)):
            (context,) = graph.context.push(states[0], Piece(chunk.span, chunk))
            pieces += graph.audio_to_video.push(states[1], context)
        source.close()
        return torch.cat([piece.value for piece in sorted(pieces, key=lambda piece: piece.span.start)])

    with torch.no_grad():
        yield make


def changed(one, other):
    """For every frame whether it is another one."""
    return (one != other).any(dim=1)


def test_each_word_changes_the_motion(latents):
    plain = latents()
    for word in WORDS:
        assert changed(latents(cue(0, word)), plain).all(), word


def test_no_words_and_words_after_the_end_are_no_prompt(latents):
    plain, smiling = latents(), latents(cue(0, "smiling"))
    assert not changed(latents(cue(0)), plain).any()
    assert not changed(latents(cue(99, "smiling")), plain).any()
    assert not changed(latents(cue(0, "smiling"), cue(99)), smiling).any()


@pytest.mark.parametrize(("at", "untouched"), [("1", 24), ("1.9", 24), ("2.5", 56), ("2.6", 56)])
def test_a_cue_changes_nothing_before_the_transition_to_its_own_chunk(latents, at, untouched):
    """N chunks begin at frames 0, 32 and 64, the transitions before them at 24 and 56."""
    different = changed(latents(cue(0, "calm"), cue(at, "smiling")), latents(cue(0, "calm")))
    assert not different[:untouched].any()
    assert different[int(Fraction(at) * 25) + 13 :].all()  # half a second later
