"""Exit codes of the `avatar` command."""

from enum import IntEnum


class ExitCode(IntEnum):
    """One number a kind of ending, so that shell scripts can tell them apart."""

    DONE = 0
    FIGURE_MISSED = 1  # `avatar evaluate --strict`: like diff and grep, it worked and the answer is no
    USAGE = 2
    BAD_INPUT = 3
    ENVIRONMENT = 4
    FAILED = 5
    SOME_ROWS_FAILED = 6
    INTERRUPTED = 130
