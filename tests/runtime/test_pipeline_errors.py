import threading

import pytest

from avatar_cli.protocol.errors import RenderFailure
from avatar_cli.runtime.chunks import ChunkPlan
from avatar_cli.runtime.pipeline import Graph, Job, Pipeline


class Failing:
    """A stage whose every piece ends with an error that came from another one."""

    name = "context"
    residencies = ()

    def __init__(self, error, cause):
        self._error = error
        self._cause = cause

    def open(self, reference):
        return None

    def push(self, state, piece, before_last_call=None):
        raise self._error from self._cause


def failure_of(error, cause):
    graph = Graph(*[Failing(error, cause)] * 4)
    job = Job(ChunkPlan(6, 3, 2), seed=0, has_frame=lambda frame: frame < 6, conditioning=None)
    with pytest.raises(RenderFailure) as caught:
        Pipeline(graph, job, lambda event: None, threading.Event()).run(lambda frame: None)
    return caught.value


def test_an_error_with_a_sentence_of_its_own_keeps_its_cause_and_is_told_where_it_happened():
    error, cause = RenderFailure("The encoder has died."), ConnectionError("closed by peer")
    failure = failure_of(error, cause)
    assert failure is error
    assert failure.__cause__ is cause
    assert (failure.stage, failure.chunk) == ("context", "N0")


def test_any_other_error_becomes_the_cause_of_one_with_a_sentence():
    error = ZeroDivisionError("by zero")
    failure = failure_of(error, None)
    assert failure.__cause__ is error
    assert "ZeroDivisionError" in failure.message
