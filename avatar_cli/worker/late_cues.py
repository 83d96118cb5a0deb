"""Cues after the end of the speech: told before the first frame where the end can be known by then."""

from collections.abc import Sequence
from pathlib import Path

from avatar_cli.media.speech_in import SpeechDecoder
from avatar_cli.media.speech_source import SpeechSource
from avatar_cli.protocol.job import Cue


def expected_late(cues: Sequence[Cue], speech: SpeechSource, path: Path) -> list[str]:
    """A sentence on each cue after the end of a file.

    Where the file's own word for its length puts a cue behind the end, it is decoded once more to make sure;
    of a file that promises more than it has, `late` tells.
    """
    promised = speech.info.seconds
    if promised is None or all(cue.at < promised for cue in cues):
        return []
    decoder = SpeechDecoder(path)
    samples = sum(len(block) for block in decoder.blocks())
    decoder.close()
    return [_sentence(cue) for cue in cues if cue.at * decoder.info.rate >= samples]


def late(cues: Sequence[Cue], speech: SpeechSource) -> list[str]:
    """A sentence on each cue after the end of a speech, which is read for it as far as the last cue."""
    return [_sentence(cue) for cue in cues if not speech.covers(cue.at)]


def _sentence(cue: Cue) -> str:
    return f"The cue at {float(cue.at):g} s lies after the end of the speech and does nothing."
