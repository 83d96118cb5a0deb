"""Texts that must stay one line of a terminal or a log, whatever the names of files in them hold."""

import re

# controls of ASCII and Latin-1, and the line and paragraph separators of Unicode
_MOVES_THE_CURSOR = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def one_line(text: str) -> str:
    r"""The text with everything in it that would break the line or command the terminal as `\n` or `\x1b`."""
    return _MOVES_THE_CURSOR.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
