"""The language of prompts: words of a model's vocabulary, each as it is or with how strongly it is meant."""

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from avatar_cli.protocol.job import PLAINLY, Prompted

LIKE_ENOUGH = 0.6  # similarity (difflib's, 0..1) from which on a word may be what was meant
LONGEST_TOLD = 40  # characters of something unknown

_BETWEEN_WORDS = re.compile(r"[,;\n]|\band\b")


@dataclass(frozen=True)
class Vocabulary:
    """What the prompts of a model may say; all in lower case, words separated by one space."""

    model: str
    words: tuple[str, ...]
    intensities: Mapping[str, float]  # words that may stand before one of `words`
    opposites: tuple[tuple[str, str], ...]  # of `words`, that cannot hold at the same time


def parse_prompt(text: str, vocabulary: Vocabulary) -> tuple[Prompted, ...]:
    """Words with their intensities, in the order they come in; none where the text is empty.

    Commas, semicolons, lines, spaces and "and" separate words; case, hyphens and underscores do not matter.
    Raises ValueError, saying what is wrong and what to do, for anything that is not in the vocabulary, for a
    word that comes twice and for two that contradict each other.
    """
    plain = re.sub(r"[-_]", " ", text.casefold())
    prompted: dict[str, Prompted] = {}
    for part in _BETWEEN_WORDS.split(plain):
        for word in _words(part.split(), vocabulary):
            if word.word in prompted:
                raise ValueError(f"{word.word} comes twice: keep one of them")
            prompted[word.word] = word
    for one, other in vocabulary.opposites:
        if one in prompted and other in prompted:
            raise ValueError(f"{one} and {other} contradict each other: keep one of them")
    return tuple(prompted.values())


def _words(tokens: list[str], vocabulary: Vocabulary) -> Iterator[Prompted]:
    while tokens:
        intensity = vocabulary.intensities.get(tokens[0])
        rest = tokens if intensity is None else tokens[1:]
        if not rest:
            raise ValueError(f"{tokens[0]} has no word behind it: write it before the word that it is about")
        if intensity is not None and rest[0] in vocabulary.intensities:
            raise ValueError(f"{tokens[0]} and {rest[0]} come before one word: keep one of them")
        word = _beginning(rest, vocabulary.words)
        if word is None:
            raise ValueError(_unknown(rest, vocabulary))
        yield Prompted(word, PLAINLY if intensity is None else intensity)
        tokens = rest[len(word.split()) :]


def _beginning(tokens: list[str], words: tuple[str, ...]) -> str | None:
    """The word of the vocabulary that the tokens begin with."""
    return next((word for word in words if tokens[: len(parts := word.split())] == parts), None)


def _unknown(tokens: list[str], vocabulary: Vocabulary) -> str:
    """What to say of tokens that begin with no word; those behind that begin with one are left out."""
    known = (
        place
        for place, token in enumerate(tokens)
        if token in vocabulary.intensities or _beginning(tokens[place:], vocabulary.words)
    )
    said = " ".join(tokens[: next(known, len(tokens))])[:LONGEST_TOLD]
    nearest = max(vocabulary.words, key=lambda word: _likeness(said, word))
    advice = f"the nearest is {nearest}, and " if _likeness(said, nearest) >= LIKE_ENOUGH else ""
    return f"{said} is not a word that {vocabulary.model} knows: {advice}`avatar models` lists them all"


def _likeness(said: str, word: str) -> float:
    """The best likeness of two texts or of two parts of them: "look left" is like "looking left"."""
    pairs = product((said, *said.split()), (word, *word.split()))
    return max(difflib.SequenceMatcher(None, one, other).ratio() for one, other in pairs)
