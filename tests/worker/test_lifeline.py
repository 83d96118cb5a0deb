"""A lifeline ends the process, so each test gives it one of its own."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from avatar_cli.protocol.exit_codes import ExitCode
from avatar_cli.worker.lifeline import GRACE


@pytest.fixture
def start():
    """Starts a process that watches a pipe; returns it and the pipe's write end."""
    opened = []

    def start(body):
        read_end, write_end = os.pipe()
        script = "import os, sys, threading, time\nfrom avatar_cli.worker.lifeline import Lifeline\n"
        script += "stop = threading.Event()\nlifeline = Lifeline(int(sys.argv[1]), stop)\nprint(flush=True)\n"
        command = [sys.executable, "-c", script + textwrap.dedent(body), str(read_end)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=[read_end], text=True)
        os.close(read_end)
        process.stdout.readline()
        opened.append(process)
        return process, write_end

    yield start
    for process in opened:
        process.kill()
        process.communicate()


ORDERLY = "stop.wait(); print('closing'); lifeline.session_is_over(); sys.exit(7)"
STUCK_IN_C = "import hashlib; hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)"  # no signal interrupts this
HANGS_IN_TEARDOWN = "stop.wait(); lifeline.session_is_over(); time.sleep(60)"


def test_a_session_may_end_in_order_when_the_launcher_goes(start):
    process, launcher = start(ORDERLY)
    os.close(launcher)
    assert process.wait(30) == 7
    assert process.stdout.read() == "closing\n"


@pytest.mark.parametrize("body", [STUCK_IN_C, HANGS_IN_TEARDOWN])
def test_what_hangs_is_cut_off(start, body):
    process, launcher = start(body)
    os.close(launcher)
    assert process.wait(GRACE * 2 + 30) == ExitCode.INTERRUPTED


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_counts_like_the_launcher_leaving(start, number):
    process, launcher = start(ORDERLY)
    process.send_signal(number)
    assert process.wait(30) == 7
    os.close(launcher)


def test_a_signal_reaches_a_process_that_is_stuck_in_native_code(start):
    process, launcher = start(STUCK_IN_C)
    process.send_signal(signal.SIGTERM)
    assert process.wait(GRACE + 30) == ExitCode.INTERRUPTED
    os.close(launcher)


def test_nothing_happens_while_the_launcher_lives(start):
    process, launcher = start("print(stop.wait(0.5), flush=True)")
    time.sleep(0.1)
    assert process.wait(30) == 0
    assert process.stdout.read() == "False\n"
    os.close(launcher)
