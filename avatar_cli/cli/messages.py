"""How the command speaks to its user."""

import sys


def say(text: str) -> None:
    """A sentence on stderr."""
    print(f"avatar: {text}", file=sys.stderr, flush=True)


def complain(text: str) -> None:
    """An error: one sentence on stderr."""
    say(f"error: {text}")
