"""The tests work wherever they are started: a child hears the signals that their own starter ignores."""

import subprocess
import sys

DISPOSITIONS = (
    "import signal; "
    "print(signal.getsignal(signal.SIGINT).__name__, signal.getsignal(signal.SIGHUP) is signal.SIG_DFL)"
)


def test_a_child_hears_signals():
    child = subprocess.run([sys.executable, "-c", DISPOSITIONS], capture_output=True, text=True, check=True)
    assert child.stdout.split() == ["default_int_handler", "True"]


def test_a_child_hears_signals_that_the_starter_of_the_tests_ignores():
    this = f"{__file__}::{test_a_child_hears_signals.__name__}"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", this]
    shell = ["sh", "-c", 'trap "" INT HUP; exec "$@"', "sh", *command]
    done = subprocess.run(shell, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
