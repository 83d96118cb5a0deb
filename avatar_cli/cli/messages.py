"""How the command speaks to its user."""

import sys

from avatar_cli.protocol.one_line import one_line


def say(text: str) -> None:
    """A sentence on stderr."""
    print(f"avatar: {one_line(text)}", file=sys.stderr, flush=True)


def complain(text: str) -> None:
    """An error: one sentence on stderr."""
    say(f"error: {text}")
