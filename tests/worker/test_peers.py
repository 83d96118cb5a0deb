import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from avatar_cli.protocol.errors import InputError, RenderFailure
from avatar_cli.worker.peers import is_about_peers

JOB = Path(__file__).parent / "peers_job.py"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def start():
    """Starts some ranks of a case; returns what each printed."""

    def start(case, ranks=(0, 1)):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        environment = os.environ | {
            "GLOO_SOCKET_IFNAME": "lo",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": str(ROOT),
        }
        processes = [
            subprocess.Popen(
                [sys.executable, str(JOB), case, str(port)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=environment | {"RANK": str(rank)},
            )
            for rank in ranks
        ]
        return [process.communicate(timeout=120) for process in processes]

    return start


@pytest.mark.parametrize(
    ("case", "ends"),
    [
        ("late loader", ["met", "met"]),
        ("late publisher", ["met", "met"]),
        ("late other", ["about peers", "about peers"]),
        ("late in attention", ["about peers", "about peers"]),
    ],
)
def test_who_may_be_late_and_who_may_not(start, case, ends):
    assert [out.strip() for out, _ in start(case)] == ends


def test_a_rank_whose_peers_never_come_says_so(start):
    ((_, err),) = start("alone", ranks=(0,))
    assert "EnvironmentProblem: Not all of the 2 processes came together within 2 s: start all of" in err


def test_an_error_with_a_sentence_of_its_own_is_not_about_peers():
    closed = RuntimeError("[gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:1234")
    for kind, expected in ((RenderFailure, True), (InputError, False)):
        error = kind("No.")
        error.__cause__ = closed
        assert is_about_peers(error) == expected
    assert not is_about_peers(RuntimeError("shapes do not match"))


def test_an_error_that_is_its_own_cause_is_looked_at_once():
    error = RenderFailure("The encoder has died.")
    error.__cause__ = error
    assert not is_about_peers(error)
